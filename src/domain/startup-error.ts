/** The reason why the service or a command cannot start, in one line for the operator. The exit code is 1. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** Returns the message of an error as one line without a full stop. A StartupError can contain it. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
}

/** The refusal of a command that makes no database. `where` is the file, or an address without a password. */
export class NoDatabaseError extends StartupError {
  constructor(where: string) {
    super(`There is no petstore database at ${where}: check the address, or make one with petstore migrate.`);
  }
}
