import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import type { Command } from 'commander';
import { openTerminal } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/main.ts';

/** Every command of the program that does something, by the words that call it: `keys create`. */
export async function listCommands(): Promise<readonly (readonly [words: string, command: Command])[]> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const exit = () => assert.fail('nothing runs');
  const terminal = openTerminal({ env: {}, stdin: Readable.from([]), stdout, stderr, exit });
  return [...commandsOf(await createProgram(terminal), '')];
}

function* commandsOf(command: Command, before: string): Generator<readonly [string, Command]> {
  for (const each of command.commands) {
    const words = `${before}${each.name()}`;
    if (each.commands.length === 0) yield [words, each];
    else yield* commandsOf(each, `${words} `);
  }
}
