// Contract: section 10.
import { type Command, Option } from 'commander';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import { type Operator, type Role, ROLES } from '../../domain/operator.ts';
import { listed } from '../../domain/parse.ts';
import type { Result } from '../../domain/result.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import {
  instant,
  type Instant,
  JSON_OPTION,
  type JsonOption,
  keyId as tokenId,
} from '../../terminal/options.ts';
import { type Cell, describeDistance } from '../../terminal/table.ts';
import type { OperatorRepository } from './repository.ts';
import { toOperator, linkAddress, type OperatorToken } from './rules.ts';

interface Repositories {
  readonly operators: OperatorRepository;
}

interface CreateOptions extends JsonOption {
  readonly role: Role;
}

interface TokenOptions extends JsonOption {
  readonly expires?: Instant;
}

interface ConsoleOptions extends JsonOption {
  readonly as?: string;
}

const CREATE_EXAMPLE = `
Example:
  petstore operators create ada --role admin`;

const TOKEN_EXAMPLE = `
A token also ends when its operator is removed, so make an operator for each program.

Example:
  petstore operators token billing --expires 90d`;

const CONSOLE_NOTES = `
The link begins with CONSOLE_URL. Without it, CONSOLE_HOST and CONSOLE_PORT (8081 by default) make the address.

Example:
  petstore console --as ada`;

export function operatorsCommands(program: Command, terminal: Terminal<Repositories>): void {
  const { withStore, printJson, printLine, printSecret } = terminal;
  const command = program
    .command('operators')
    .description('people and programs that use the console and the admin API');

  command
    .command('create')
    .argument('<name>', 'unique; its case does not count')
    .description('create an operator; petstore console makes a link to sign in')
    .addOption(
      new Option('--role <role>', 'a viewer reads, an admin also changes; required')
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .option(...JSON_OPTION)
    .addHelpText('after', CREATE_EXAMPLE)
    .action((name: string, { role, json }: CreateOptions) =>
      withStore(async ({ store: { operators }, actor }) => {
        const operator = requireValue(await operators.create(actor, name, role));
        if (json) return printJson(toOperator(operator));
        printLine(
          `Operator ${operator.name} has the role ${role}. petstore console makes a link to sign in.`,
        );
      }),
    );

  command
    .command('remove')
    .argument('<name>')
    .description(
      'remove an operator, and end its links, passkeys, sessions and tokens at once on every instance',
    )
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) =>
      withStore(async ({ store: { operators }, actor }) => {
        const { id } = requireValue(await operators.find(name));
        const operator = requireValue(await operators.remove(actor, id));
        if (json) return printJson({ ...toOperator(operator), removed: true });
        printLine(
          `Operator ${operator.name} is removed. Its links, passkeys, sessions and tokens no longer work.`,
        );
        const { items: others } = await operators.list();
        if (operator.role === 'admin' && others.every(({ role }) => role !== 'admin'))
          printLine('No admin is left: create one with petstore operators create NAME --role admin.');
      }),
    );

  command
    .command('token')
    .argument('<name>', 'the operator')
    .description('create a token for the admin API, and show it once')
    .option(
      '--expires <when>',
      'when the token ends: a date (midnight UTC), an ISO 8601 instant, or a duration from now: 90d',
      instant,
    )
    .option(...JSON_OPTION)
    .addHelpText('after', TOKEN_EXAMPLE)
    .action((name: string, { expires, json }: TokenOptions) =>
      withStore(async ({ store: { operators }, actor, clock }) => {
        const operator = requireValue(await operators.find(name));
        const created = await operators.createToken(actor, operator.id, expires?.(clock().unix));
        const { token, record } = requireValue(created);
        const { id, ...times } = toToken(record);
        if (json) return printJson({ id, operator: operator.name, token: token.reveal(), ...times });
        const end = times.expiresAt === null ? '' : `, until ${times.expiresAt}`;
        printLine(`Token ${id} of operator ${operator.name} (${operator.role})${end}:`);
        printSecret(token.reveal());
      }),
    );

  command
    .command('revoke-token')
    .argument('<id>', 'the number of the token, as operators list shows it', tokenId)
    .description('end one token at once on every instance')
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      withStore(async ({ store: { operators }, actor }) => {
        requireValue(await operators.revokeToken(actor, id));
        if (json) return printJson({ id, revoked: true });
        printLine(`Token ${id} no longer works.`);
      }),
    );
}

export function consoleCommand(
  program: Command,
  { withStore, printJson, printLine }: Terminal<Repositories>,
): void {
  program
    .command('console')
    .description('print a link that signs in to the console once within 10 minutes')
    .option('--as <name>', 'the operator; needed when there are several')
    .option(...JSON_OPTION)
    .addHelpText('after', CONSOLE_NOTES)
    .action(({ as: name, json }: ConsoleOptions) =>
      withStore(async ({ config, store: { operators }, actor }) => {
        const found = await (name === undefined ? findOnly(operators) : operators.find(name));
        const operator = requireValue(found);
        const { secret, expiresAt } = requireValue(await operators.createLink(actor, operator.id));
        const link = linkAddress(config.consoleUrl, secret);
        if (json) return printJson({ operator: operator.name, link, expiresAt: instantOrNull(expiresAt) });
        printLine(`This link signs in as ${operator.name} (${operator.role}), once within 10 minutes:`);
        printLine('');
        printLine(`  ${link}`);
      }),
    );
}

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
