// Contract: section 10.
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import { type Operator, ROLES } from '../../domain/operator.ts';
import { listed } from '../../domain/parse.ts';
import type { Result } from '../../domain/result.ts';
import { command, type CommandContext, group, requireValue } from '../../terminal/command.ts';
import { readId } from '../../terminal/parsers.ts';
import { type Cell, describeDistance } from '../../terminal/table.ts';
import { argument, choice, instantAhead, option, required } from '../../terminal/takers.ts';
import { secretLines, view } from '../../terminal/view.ts';
import type { OperatorRepository } from './repository.ts';
import { toOperator, linkAddress, type OperatorToken } from './rules.ts';

type Context = CommandContext<{ readonly operators: OperatorRepository }>;

export const operatorsCommands = group(
  'operators',
  'people and programs that use the console and the admin API',
  [
    command('create', {
      description: 'create an operator; petstore console makes a link to sign in',
      takes: {
        name: argument('<name>', 'unique; its case does not count'),
        role: required(choice('<role>', 'a viewer reads, an admin also changes; required', ROLES)),
      },
      examples: ['petstore operators create ada --role admin'],
      run: async ({ name, role }, { store: { operators }, actor }: Context) => {
        const operator = requireValue(await operators.create(actor, name, role));
        return view(
          toOperator(operator),
          `Operator ${operator.name} has the role ${role}. petstore console makes a link to sign in.`,
        );
      },
    }),

    command('remove', {
      description:
        'remove an operator, and end its links, passkeys, sessions and tokens at once on every instance',
      takes: { name: argument('<name>') },
      run: async ({ name }, { store: { operators }, actor }: Context) => {
        const { id } = requireValue(await operators.find(name));
        const operator = requireValue(await operators.remove(actor, id));
        const { items: others } = await operators.list();
        const isLast = operator.role === 'admin' && others.every(({ role }) => role !== 'admin');
        return view(
          { ...toOperator(operator), removed: true },
          `Operator ${operator.name} is removed. Its links, passkeys, sessions and tokens no longer work.`,
          ...(isLast
            ? ['No admin is left: create one with petstore operators create NAME --role admin.']
            : []),
        );
      },
    }),

    command('token', {
      description: 'create a token for the admin API, and show it once',
      takes: {
        name: argument('<name>', 'the operator'),
        expires: instantAhead('when the token ends'),
      },
      notes: 'A token also ends when its operator is removed, so make an operator for each program.',
      examples: ['petstore operators token billing --expires 90d'],
      run: async ({ name, expires }, { store: { operators }, actor, clock }: Context) => {
        const operator = requireValue(await operators.find(name));
        const created = await operators.createToken(actor, operator.id, expires?.(clock().unix));
        const { token, record } = requireValue(created);
        const { id, ...times } = toToken(record);
        const end = times.expiresAt === null ? '' : `, until ${times.expiresAt}`;
        return view(
          { id, operator: operator.name, token: token.reveal(), ...times },
          `Token ${id} of operator ${operator.name} (${operator.role})${end}:`,
          ...secretLines(token.reveal()),
        );
      },
    }),

    command('revoke-token', {
      description: 'end one token at once on every instance',
      takes: { id: argument('<id>', 'the number of the token, as operators list shows it', readId) },
      run: async ({ id }, { store: { operators }, actor }: Context) => {
        requireValue(await operators.revokeToken(actor, id));
        return view({ id, revoked: true }, `Token ${id} no longer works.`);
      },
    }),
  ],
);

export const consoleCommand = command('console', {
  description: 'print a link that signs in to the console once within 10 minutes',
  takes: { as: option('<name>', 'the operator; needed when there are several') },
  notes:
    'The link begins with CONSOLE_URL. Without it, CONSOLE_HOST and CONSOLE_PORT (8081 by default) make the address.',
  examples: ['petstore console --as ada'],
  run: async ({ as: name }, { config, store: { operators }, actor }: Context) => {
    const found = await (name === undefined ? findOnly(operators) : operators.find(name));
    const operator = requireValue(found);
    const { secret, expiresAt } = requireValue(await operators.createLink(actor, operator.id));
    const link = linkAddress(config.consoleUrl, secret);
    return view(
      { operator: operator.name, link, expiresAt: instantOrNull(expiresAt) },
      `This link signs in as ${operator.name} (${operator.role}), once within 10 minutes:`,
      '',
      `  ${link}`,
    );
  },
});

/** `invalid_parameter`: there are several. */
async function findOnly(
  operators: OperatorRepository,
): Promise<Result<Operator, 'not_found' | 'invalid_parameter'>> {
  const [first, ...others] = (await operators.list()).items;
  if (first === undefined) {
    const message = 'There is no operator: create one with petstore operators create NAME --role admin.';
    return { error: 'not_found', message };
  }
  if (others.length === 0) return { value: first };
  const names = listed([first, ...others].map(({ name }) => name));
  return { error: 'invalid_parameter', message: `The operators are ${names}: name one with --as.` };
}

export function toToken({ id, createdAt, expiresAt }: OperatorToken) {
  return { id, createdAt: textFromInstant(createdAt), expiresAt: instantOrNull(expiresAt) };
}

export function tokensCell(tokens: readonly ReturnType<typeof toToken>[]): Cell {
  const describe = (describeEnd: (expiresAt: string) => string): string =>
    tokens
      .map(({ id, expiresAt }) => (expiresAt === null ? String(id) : `${id} ${describeEnd(expiresAt)}`))
      .join(', ') || '-';
  return {
    exact: describe((expiresAt) => `until ${expiresAt}`),
    short: (now) => describe((expiresAt) => `(ends ${describeDistance(Date.parse(expiresAt), now)})`),
  };
}
