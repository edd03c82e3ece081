// Contract: section 10.
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { type Operator, type OperatorToken, type Role, ROLES } from '../domain/operator.ts';
import { instantOrNull, textFromInstant } from '../domain/instant.ts';
import {
  createOperator,
  existingOperator,
  issueToken,
  removeOperator,
  revokeToken,
} from '../management/operators.ts';
import { withStore } from './context.ts';
import {
  instant,
  type Instant,
  JSON_OPTION,
  type JsonOption,
  keyId as tokenId,
} from '../terminal/options.ts';
import { printJson, printLine, printRows, printSecret } from '../terminal/output.ts';

interface CreateOptions extends JsonOption {
  readonly role: Role;
}

interface TokenOptions extends JsonOption {
  readonly expires?: Instant;
}

const CREATE_EXAMPLE = `
Example:
  petstore operators create ada --role admin`;

const TOKEN_EXAMPLE = `
A token also ends when its operator is removed, so make an operator for each program.

Example:
  petstore operators token billing --expires 90d`;

export function operatorsCommands(program: Command): void {
  const operators = program
    .command('operators')
    .description('people and programs that use the console and the admin API');

  operators
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
    .action(create);

  operators
    .command('list')
    .description('list all operators and their tokens, without the tokens themselves')
    .option(...JSON_OPTION)
    .action(list);

  operators
    .command('remove')
    .argument('<name>')
    .description('remove an operator, and end its links, sessions and tokens at once on every instance')
    .option(...JSON_OPTION)
    .action(remove);

  operators
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
    .action(token);

  operators
    .command('revoke-token')
    .argument('<id>', 'the number of the token, as operators list shows it', tokenId)
    .description('end one token at once on every instance')
    .option(...JSON_OPTION)
    .action(endToken);
}

function create(name: string, { role, json }: CreateOptions): Promise<void> {
  return withStore(async ({ store: { operators }, actor }) => {
    const operator = await createOperator(operators, actor, name, role);
    if (json) return printJson(operatorJson(operator));
    printLine(`Operator ${operator.name} has the role ${role}. petstore console makes a link to sign in.`);
  });
}

function list({ json }: JsonOption): Promise<void> {
  return withStore(async ({ store: { operators } }) => {
    const tokens = Map.groupBy(await operators.tokens(), ({ operator }) => operator);
    const rows = (await operators.list()).map((operator) =>
      Object.assign(operatorJson(operator), { tokens: (tokens.get(operator.name) ?? []).map(tokenJson) }),
    );
    const header = ['NAME', 'ROLE', 'CREATED', 'TOKENS'];
    printRows(json, rows, header, (row) => [
      row.name,
      row.role,
      row.createdAt ?? '-',
      tokensText(row.tokens),
    ]);
  });
}

function remove(name: string, { json }: JsonOption): Promise<void> {
  return withStore(async ({ store: { operators }, actor }) => {
    const operator = await removeOperator(operators, actor, name);
    if (json) return printJson({ ...operatorJson(operator), removed: true });
    printLine(`Operator ${operator.name} is removed. Its links, sessions and tokens no longer work.`);
  });
}

function token(name: string, { expires, json }: TokenOptions): Promise<void> {
  return withStore(async ({ store: { operators }, actor, clock }) => {
    const operator = await existingOperator(operators, name);
    const now = clock().unix;
    const issued = await issueToken(operators, actor, randomBytes, operator, {
      now,
      expiresAt: expires?.(now),
    });
    const { id, ...record } = tokenJson(issued.record);
    const text = issued.token.reveal();
    if (json) return printJson({ id, operator: operator.name, token: text, ...record });
    const end = record.expiresAt === null ? '' : `, until ${record.expiresAt}`;
    printLine(`Token ${id} of operator ${operator.name} (${operator.role})${end}:`);
    printSecret(text);
  });
}

function endToken(id: number, { json }: JsonOption): Promise<void> {
  return withStore(async ({ store: { operators }, actor }) => {
    await revokeToken(operators, actor, id);
    if (json) return printJson({ id, revoked: true });
    printLine(`Token ${id} no longer works.`);
  });
}

function operatorJson({ id, name, role, createdAt }: Operator) {
  return { id, name, role, createdAt: textFromInstant(createdAt) };
}

function tokenJson({ id, createdAt, expiresAt }: OperatorToken) {
  return { id, createdAt: textFromInstant(createdAt), expiresAt: instantOrNull(expiresAt) };
}

function tokensText(tokens: readonly ReturnType<typeof tokenJson>[]): string {
  if (tokens.length === 0) return '-';
  return tokens
    .map(({ id, expiresAt }) => (expiresAt === null ? String(id) : `${id} until ${expiresAt}`))
    .join(', ');
}
