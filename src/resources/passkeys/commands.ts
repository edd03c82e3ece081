// Contract: section 10.1.
import { addTo, command, type CommandContext, requireValue } from '../../terminal/command.ts';
import { readId } from '../../terminal/parsers.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { argument } from '../../terminal/takers.ts';
import { view, viewRows } from '../../terminal/view.ts';
import { toToken, tokensCell } from '../operators/commands.ts';
import type { OperatorRepository } from '../operators/repository.ts';
import { toOperator } from '../operators/rules.ts';
import type { PasskeyRepository } from './repository.ts';
import { toPasskey, type Passkey } from './rules.ts';

type Context = CommandContext<{
  readonly operators: OperatorRepository;
  readonly passkeys: PasskeyRepository;
}>;

interface ListedOperator extends ReturnType<typeof toOperator> {
  readonly passkeys: readonly ReturnType<typeof listedPasskey>[];
  readonly tokens: readonly ReturnType<typeof toToken>[];
}

const COLUMNS: readonly Column<ListedOperator>[] = [
  ['NAME', ({ name }) => name],
  ['ROLE', ({ role }) => role],
  ['CREATED', ({ createdAt }) => instantCell(createdAt)],
  ['PASSKEYS', ({ passkeys }) => passkeys.map(({ id, name }) => `${id} ${name}`).join(', ') || '-'],
  ['TOKENS', ({ tokens }) => tokensCell(tokens)],
];

/** What shows or ends passkeys. */
export const passkeyCommands = addTo('operators', [
  command('list', {
    description: 'list all operators, with their passkeys and the numbers of their tokens',
    run: async (_, { store: { operators, passkeys } }: Context) => {
      const added = Map.groupBy((await passkeys.list()).items, ({ operatorId }) => operatorId);
      const tokens = Map.groupBy((await operators.listTokens()).items, ({ operator }) => operator);
      const rows = (await operators.list()).items.map((operator) =>
        Object.assign(toOperator(operator), {
          passkeys: (added.get(operator.id) ?? []).map(listedPasskey),
          tokens: (tokens.get(operator.name) ?? []).map(toToken),
        }),
      );
      return viewRows(COLUMNS, rows);
    },
  }),

  command('remove-passkey', {
    description: 'remove one passkey, and end the sessions that began with it at once on every instance',
    takes: {
      id: argument('<id>', 'the number of the passkey, as operators list shows it', readId),
    },
    run: async ({ id }, { store: { passkeys }, actor }: Context) => {
      const { name, operator } = requireValue(await passkeys.remove(actor, id));
      return view(
        { id, removed: true },
        `Passkey ${id}, ${name} of operator ${operator}, no longer signs in.`,
      );
    },
  }),
]);

function listedPasskey(passkey: Passkey) {
  const { id, name, createdAt, lastUsedAt = null } = toPasskey(passkey);
  return { id, name, createdAt, lastUsedAt };
}
