import type { Command } from 'commander';
import { readSettings, variableWarnings } from '../app/config.ts';
import { maskUrl } from '../config/mask-url.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/options.ts';
import type { ProgramTerminal } from './context.ts';

export function configCommand(program: Command, { system, printError, printRows }: ProgramTerminal): void {
  program
    .command('config')
    .description('show the configuration in force and where each value comes from, without passwords')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) => {
      for (const warning of variableWarnings(system.env)) printError(`petstore: ${warning}`);
      const settings = readSettings(system.env).map(({ variable, value, from }) => ({
        variable,
        value: value === undefined ? null : maskUrl(value),
        from,
      }));
      printRows(json, settings, ['VARIABLE', 'VALUE', 'FROM'], ({ variable, value, from }) => [
        variable,
        value ?? 'not set',
        from,
      ]);
    });
}
