import type { Command } from 'commander';
import { listed } from '../domain/parse.ts';

/** Columns of help that no terminal shows. */
export const HELP_WIDTH = 80;

export function helpCommand(program: Command): void {
  program
    .command('help')
    .argument('[command...]', 'for example keys create')
    .description('explain a command')
    .action((names: readonly string[]) => {
      names.reduce(subcommand, program).help();
    });
}

function subcommand(command: Command, name: string): Command {
  const found = command.commands.find((each) => each.name() === name);
  return found ?? command.error(`error: unknown command '${name}'`);
}

/** After an error, each group of commands names what it has. Call this last, because new commands inherit the text. */
export function nameCommandsAfterErrors(group: Command, path = group.name()): void {
  if (group.commands.length === 0) return;
  const names = group.commands.map((each) => each.name());
  const sentence = `${path} has the commands ${listed(names)}.`;
  group.showHelpAfterError(
    sentence.length <= HELP_WIDTH ? sentence : `${path} has these commands:\n${layOut(names)}`,
  );
  for (const each of group.commands) nameCommandsAfterErrors(each, `${path} ${each.name()}`);
}

/** Names in columns, in their order. */
function layOut(names: readonly string[]): string {
  const width = Math.max(...names.map(({ length }) => length)) + 2;
  const perLine = Math.floor((HELP_WIDTH - 2) / width);
  return Array.from({ length: Math.ceil(names.length / perLine) }, (_, line) => {
    const cells = names.slice(line * perLine, (line + 1) * perLine).map((name) => name.padEnd(width));
    return `  ${cells.join('').trimEnd()}`;
  }).join('\n');
}
