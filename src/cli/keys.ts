import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { SCOPES, type Scope } from '../domain/account.ts';
import { PetStoreError } from '../domain/errors.ts';
import { DAY } from '../domain/clock.ts';
import { accountFor, existingAccount, existingKey, issueKey, rotateKey } from '../domain/issue-key.ts';
import { printIssuedKey, printKeys, printRevoked } from './key-output.ts';
import { JSON_OPTION, keyId, label, limitOptions, type PlanOptions, planOption, scopes } from './options.ts';
import { duration, instant } from './times.ts';
import { withStore } from './with-store.ts';

interface CreateOptions extends PlanOptions {
  readonly account: string;
  readonly scopes: readonly Scope[];
  readonly expires?: number;
  readonly label?: string;
  readonly json?: true;
}

const CREATE_EXAMPLES = `
Examples:
  petstore keys create --account shop
  petstore keys create --account shop --scopes pets:read --expires 2027-01-01 --label "price board"
  petstore keys create --account chain --plan enterprise --per-minute 5000 --per-day 1000000`;

export function keysCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: issue, list, rotate, revoke');

  limitOptions(
    keys
      .command('create')
      .description('issue a key, and make its account if there is none; the key is shown this once')
      .requiredOption('--account <name>', 'the account it belongs to')
      .addOption(planOption('the plan of a new account (default: "free")')),
  )
    .addOption(
      new Option('--scopes <list>', 'what it may do, separated by commas')
        .argParser(scopes)
        .default(SCOPES, SCOPES.join(',')),
    )
    .option('--expires <date>', 'when it ends: a date (midnight UTC) or an ISO 8601 instant', instant)
    .option('--label <text>', 'a note to know it by', label)
    .option(...JSON_OPTION)
    .addHelpText('after', CREATE_EXAMPLES)
    .action(createKey);

  keys
    .command('list')
    .description('list keys, without the keys themselves; when they were last used as of a minute ago')
    .option('--account <name>', 'only those of one account')
    .option(...JSON_OPTION)
    .action(listKeys);

  keys
    .command('rotate')
    .argument('<id>', 'the number of the key', keyId)
    .description('issue a new key with the same settings; the old one lives on for a grace time')
    .addOption(
      new Option('--grace <duration>', 'how long: 0, 90s, 30m, 24h, 7d; never past its own expiry')
        .argParser(duration)
        .default(DAY, '24h'),
    )
    .option(...JSON_OPTION)
    .action(rotate);

  keys
    .command('revoke')
    .argument('<id>', 'the number of the key', keyId)
    .description('end a key for good, within 5 seconds on every instance')
    .option(...JSON_OPTION)
    .action(revoke);
}

function createKey(options: CreateOptions): Promise<void> {
  return withStore(async ({ config, clock, store: { accounts } }) => {
    const { account: name, plan, scopes: granted, expires, label: note, json, ...custom } = options;
    if (expires !== undefined && expires <= clock().unix) {
      throw new PetStoreError('invalid_parameter', '--expires must lie in the future.');
    }
    const account = await accountFor(accounts, name, plan, custom);
    const issued = await issueKey(accounts, randomBytes, {
      account,
      environment: config.environment,
      label: note,
      scopes: granted,
      expiresAt: expires,
    });
    printIssuedKey(issued, json === true);
  });
}

function listKeys({ account: name, json }: { account?: string; json?: true }): Promise<void> {
  return withStore(async ({ clock, store: { accounts } }) => {
    const account = name === undefined ? undefined : await existingAccount(accounts, name);
    printKeys(await accounts.listKeys(account?.id), clock().unix, json === true);
  });
}

function rotate(id: number, { grace, json }: { grace: number; json?: true }): Promise<void> {
  return withStore(async ({ clock, store: { accounts } }) => {
    const now = clock().unix;
    printIssuedKey(await rotateKey(accounts, randomBytes, id, { now, grace }), json === true);
  });
}

function revoke(id: number, { json }: { json?: true }): Promise<void> {
  return withStore(async ({ clock, store: { accounts } }) => {
    await existingKey(accounts, id);
    await accounts.revokeKey(id);
    printRevoked(await existingKey(accounts, id), clock().unix, json === true);
  });
}
