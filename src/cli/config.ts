import { readSettings, variableWarnings } from '../app/config.ts';
import { maskUrl } from '../config/mask-url.ts';
import { ownCommand } from '../terminal/command.ts';
import type { Column } from '../terminal/table.ts';
import { viewRows } from '../terminal/view.ts';
import type { ProgramTerminal } from './context.ts';

interface Setting {
  readonly variable: string;
  readonly value: string | null;
  readonly from: string;
}

const COLUMNS: readonly Column<Setting>[] = [
  ['VARIABLE', ({ variable }) => variable],
  ['VALUE', ({ value }) => value ?? 'not set'],
  ['FROM', ({ from }) => from],
];

export const configCommand = ownCommand('config', {
  description: 'show the configuration in force and where each value comes from, without passwords',
  run: (_, { system: { env }, printError }: ProgramTerminal) => {
    for (const warning of variableWarnings(env)) printError(`petstore: ${warning}`);
    const settings = readSettings(env).map(({ variable, value, from }) => ({
      variable,
      value: value === undefined ? null : maskUrl(value),
      from,
    }));
    return viewRows(COLUMNS, settings);
  },
});
