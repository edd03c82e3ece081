/** Why the service or a command cannot start, in one line for its operator; it ends the process with exit code 1. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
