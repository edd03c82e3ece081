import type { Command } from 'commander';
import { listed } from '../domain/parse.ts';

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
  group.showHelpAfterError(`${path} has the commands ${listed(names)}.`);
  for (const each of group.commands) nameCommandsAfterErrors(each, `${path} ${each.name()}`);
}
