/** The reason why the service or a command cannot start, in one line for the operator. The exit code is 1. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
