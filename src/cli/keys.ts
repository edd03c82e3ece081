// Contract: section 5.
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { SCOPES, type Scope } from '../domain/account.ts';
import { DAY } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { accountFor, existingAccount, existingKey, issueKey, rotateKey } from './issue-key.ts';
import type { Plan } from '../domain/plan.ts';
import { withStore } from './context.ts';
import { issuedJson, printIssued, RECORD_HEADER, recordCells, recordJson } from './key-output.ts';
import * as options from './options.ts';
import type { JsonOption, LimitOptions } from './options.ts';
import { isoInstant, printJson, printLine, printRows } from './output.ts';

interface CreateOptions extends JsonOption, LimitOptions {
  readonly account: string;
  readonly plan?: Plan;
  readonly scopes: readonly Scope[];
  readonly expires?: number;
  readonly label?: string;
}

const CREATE_EXAMPLES = `
Examples:
  petstore keys create --account shop
  petstore keys create --account shelter --plan free
  petstore keys create --account shop --scopes pets:read --expires 2027-01-01 --label "price board"
  petstore keys create --account chain --plan enterprise --per-minute 5000 --per-day 1000000`;

export function keysCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: issue, list, rotate, revoke');

  options
    .limitOptions(
      keys
        .command('create')
        .description('issue a key and show it once; with --plan, create its account if there is none')
        .requiredOption('--account <name>', 'the account it belongs to')
        .addOption(options.planOption('the plan of a new account')),
    )
    .addOption(
      new Option('--scopes <list>', 'what the key may do, separated by commas')
        .argParser(options.scopes)
        .default(SCOPES, SCOPES.join(',')),
    )
    .option(
      '--expires <date>',
      'when the key ends: a date (midnight UTC) or an ISO 8601 instant',
      options.instant,
    )
    .option('--label <text>', 'a note to recognize the key by', options.label)
    .option(...options.JSON_OPTION)
    .addHelpText('after', CREATE_EXAMPLES)
    .action(createKey);

  keys
    .command('list')
    .description('list the records of keys; the time of last use is up to a minute old')
    .option('--account <name>', 'only the keys of one account')
    .option(...options.JSON_OPTION)
    .action(listKeys);

  keys
    .command('rotate')
    .argument('<id>', 'the number of the key', options.keyId)
    .description('issue a new key with the same settings; the old key works until the grace time is over')
    .addOption(
      new Option('--grace <duration>', 'how long: 0, 90s, 30m, 24h, 7d; never past its own expiry')
        .argParser(options.duration)
        .default(DAY, '24h'),
    )
    .option(...options.JSON_OPTION)
    .action(rotate);

  keys
    .command('revoke')
    .argument('<id>', 'the number of the key', options.keyId)
    .description('end a key for good, within 5 seconds on every instance')
    .option(...options.JSON_OPTION)
    .action(revoke);
}

function createKey({
  account: name,
  plan,
  scopes,
  expires,
  label,
  json,
  ...custom
}: CreateOptions): Promise<void> {
  return withStore(async ({ config: { environment }, clock, store: { accounts } }) => {
    if (expires !== undefined && expires <= clock().unix) {
      throw new ServiceError('invalid_parameter', '--expires must lie in the future.');
    }
    const account = await accountFor(accounts, name, plan, custom);
    const settings = { account, environment, label, scopes, expiresAt: expires };
    const issued = await issueKey(accounts, randomBytes, settings);
    if (json) printJson(issuedJson(issued));
    else printIssued(issued);
  });
}

function listKeys({ account: name, json }: JsonOption & { account?: string }): Promise<void> {
  return withStore(async ({ clock, store: { accounts } }) => {
    const account = name === undefined ? undefined : await existingAccount(accounts, name);
    const now = clock().unix;
    const keys = (await accounts.listKeys(account?.id)).map((key) => recordJson(key, now));
    printRows(json, keys, RECORD_HEADER, recordCells);
  });
}

function rotate(id: number, { grace, json }: JsonOption & { grace: number }): Promise<void> {
  return withStore(async ({ clock, store: { accounts } }) => {
    const now = clock().unix;
    const rotated = await rotateKey(accounts, randomBytes, id, { now, grace });
    const until = isoInstant(rotated.replacedUntil);
    if (json) return printJson({ ...issuedJson(rotated), replaces: { id, expiresAt: until } });
    printIssued(rotated);
    printLine(rotated.replacedUntil > now ? `Key ${id} works until ${until}.` : `Key ${id} works no longer.`);
  });
}

function revoke(id: number, { json }: JsonOption): Promise<void> {
  return withStore(async ({ clock, store: { accounts } }) => {
    await existingKey(accounts, id);
    await accounts.revokeKey(id);
    const key = await existingKey(accounts, id);
    if (json) printJson(recordJson(key, clock().unix));
    else printLine(`Key ${key.id} of account ${key.account.name} is revoked.`);
  });
}
