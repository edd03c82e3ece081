// Contract: section 10.1.
import type { Command } from 'commander';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { findCommand, JSON_OPTION, type JsonOption, wholeNumber } from '../../terminal/options.ts';
import { instantCell } from '../../terminal/table.ts';
import { toToken, tokensCell } from '../operators/commands.ts';
import type { OperatorRepository } from '../operators/repository.ts';
import { toOperator } from '../operators/rules.ts';
import type { PasskeyRepository } from './repository.ts';
import { toPasskey, type Passkey } from './rules.ts';

interface Repositories {
  readonly operators: OperatorRepository;
  readonly passkeys: PasskeyRepository;
}

const passkeyId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

/** Adds to the commands of operators what shows or ends passkeys. */
export function addPasskeyCommands(
  program: Command,
  { withStore, printJson, printLine, printRows }: Terminal<Repositories>,
): void {
  const command = findCommand(program, 'operators');

  command
    .command('list')
    .description('list all operators, with their passkeys and the numbers of their tokens')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) =>
      withStore(async ({ store: { operators, passkeys } }) => {
        const added = Map.groupBy((await passkeys.list()).items, ({ operatorId }) => operatorId);
        const tokens = Map.groupBy((await operators.listTokens()).items, ({ operator }) => operator);
        const rows = (await operators.list()).items.map((operator) =>
          Object.assign(toOperator(operator), {
            passkeys: (added.get(operator.id) ?? []).map(listedPasskey),
            tokens: (tokens.get(operator.name) ?? []).map(toToken),
          }),
        );
        printRows(json, rows, ['NAME', 'ROLE', 'CREATED', 'PASSKEYS', 'TOKENS'], (row) => [
          row.name,
          row.role,
          instantCell(row.createdAt),
          row.passkeys.map(({ id, name }) => `${id} ${name}`).join(', ') || '-',
          tokensCell(row.tokens),
        ]);
      }),
    );

  command
    .command('remove-passkey')
    .argument('<id>', 'the number of the passkey, as operators list shows it', passkeyId)
    .description('remove one passkey, and end the sessions that began with it at once on every instance')
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      withStore(async ({ store: { passkeys }, actor }) => {
        const { name, operator } = requireValue(await passkeys.remove(actor, id));
        if (json) return printJson({ id, removed: true });
        printLine(`Passkey ${id}, ${name} of operator ${operator}, no longer signs in.`);
      }),
    );
}

function listedPasskey(passkey: Passkey) {
  const { id, name, createdAt, lastUsedAt = null } = toPasskey(passkey);
  return { id, name, createdAt, lastUsedAt };
}
