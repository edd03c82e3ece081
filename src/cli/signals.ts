const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Calls `stop` at the first signal to end. The second one has no handler, so it ends the process at once. Returns what removes it. */
export function onSignal(stop: (signal: NodeJS.Signals) => void): () => void {
  const remove = () => {
    for (const signal of SIGNALS) process.off(signal, once);
  };
  const once = (signal: NodeJS.Signals) => {
    remove();
    stop(signal);
  };
  for (const signal of SIGNALS) process.on(signal, once);
  return remove;
}

/** Resolves at the first signal to end. */
export function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    onSignal(() => resolve());
  });
}
