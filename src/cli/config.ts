import type { Command } from 'commander';
import { readSettings, variableWarnings } from '../config/config.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/options.ts';
import type { ProgramTerminal } from './context.ts';

const MASK = '****';

export function configCommand(program: Command, { system, printError, printRows }: ProgramTerminal): void {
  program
    .command('config')
    .description('show the configuration in force and where each value comes from, without passwords')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) => {
      for (const warning of variableWarnings(system.env)) printError(`petstore: ${warning}`);
      const settings = readSettings(system.env).map(({ variable, value, from }) => ({
        variable,
        value: value === undefined ? null : withoutSecrets(value),
        from,
      }));
      printRows(json, settings, ['VARIABLE', 'VALUE', 'FROM'], ({ variable, value, from }) => [
        variable,
        value ?? 'not set',
        from,
      ]);
    });
}

/** Masks the password of an address, and every parameter whose name is that of a secret. */
function withoutSecrets(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  const secrets = [...url.searchParams.keys()].filter((name) => /pass|secret|token|key/i.test(name));
  if (url.password === '' && secrets.length === 0) return text;
  if (url.password !== '') url.password = MASK;
  for (const name of secrets) url.searchParams.set(name, MASK);
  return url.href;
}
