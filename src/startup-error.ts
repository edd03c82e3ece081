/** The reason why the service or a command cannot start, in one line for the operator. The exit code is 1. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** The message of an error, in one line without a full stop, for the message of a StartupError. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
}
