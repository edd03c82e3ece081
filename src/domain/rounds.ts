/** Repeats a round of work while there may be more, until `signal` aborts. Whoever calls it later goes on. */
export async function repeatRounds(round: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  for (;;) if (signal?.aborted === true || !(await round())) return;
}
