import { spawn } from 'node:child_process';
import type { Lifetime } from './lifetime.ts';
import { PROGRAM, type Running, type Variables, watch } from './process.ts';
import { findPython } from './samples.ts';

const ON_TERMINAL = 'import pty, sys; pty.spawn(sys.argv[1:])';

/** What Ctrl-C types. */
export const INTERRUPT = '\u0003';

/**
 * Starts `petstore` on a terminal of its own. Both outputs are in `stdout`, with CR LF. What is written to `stdin` is typed.
 * @throws MissingProgram
 */
export function startOnTerminal(test: Lifetime, args: readonly string[], variables: Variables): Running {
  const command = ['-c', ON_TERMINAL, process.execPath, PROGRAM, ...args];
  const running = watch(spawn(findPython(), command, { env: { TERM: 'xterm-256color', ...variables } }));
  test.after(async () => {
    // The program gets a hang-up with its terminal.
    running.child.kill('SIGKILL');
    await running.ended;
  });
  return running;
}
