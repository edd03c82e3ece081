// Contract: section 5.
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { DEFAULT_SCOPES, type Scope } from '../domain/account.ts';
import { type KeyFilter, LISTED_STATES } from '../domain/account-ports.ts';
import { ApiKey } from '../domain/api-key.ts';
import { DAY } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { accountFor, existingAccount } from '../management/accounts.ts';
import { existingKey, issueKey, rotateKey } from '../management/keys.ts';
import type { Plan } from '../domain/plan.ts';
import type { KeyBan, RateLimitAdmin } from '../limits/counter.ts';
import { instantOrNull, textFromInstant } from '../domain/instant.ts';
import { StartupError } from '../domain/startup-error.ts';
import { type CommandContext, useQuotas, withStore } from './context.ts';
import {
  issuedJson,
  printIssued,
  RECORD_HEADER,
  recordCells,
  type RecordJson,
  recordJson,
} from './key-output.ts';
import * as options from '../terminal/options.ts';
import type { JsonOption, LimitOptions } from '../terminal/options.ts';
import { printError, printJson, printLine, printRows, printTable } from '../terminal/output.ts';

interface CreateOptions extends JsonOption, LimitOptions {
  readonly account: string;
  readonly plan?: Plan;
  readonly scopes: readonly Scope[];
  readonly expires?: options.Instant;
  readonly label?: string;
}

interface ListOptions extends JsonOption, Omit<KeyFilter, 'state'> {
  readonly account?: string;
  readonly state?: (typeof LISTED_STATES)[number];
}

/** With more keys than this, all bans are read, because that takes fewer calls than to look each key up. */
const FEW_KEYS = 5_000;

/** Characters. A key has 52. */
const LINE_MAX = 1_024;

const CREATE_EXAMPLES = `
Examples:
  petstore keys create --account shop
  petstore keys create --account shelter --plan free
  petstore keys create --account shop --scopes pets:read --expires 90d --label "price board"
  petstore keys create --account chain --plan enterprise --per-minute 5000 --per-day 1000000`;

const FIND_EXAMPLE = `
Example:
  petstore keys find < leaked-key.txt`;

export function keysCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: create, list, rotate, revoke');

  options
    .limitOptions(
      keys
        .command('create')
        .description('create a key and show it once; with --plan, also its account if there is none')
        .requiredOption('--account <name>', 'the account it belongs to')
        .addOption(options.planOption('the plan of a new account')),
    )
    .addOption(
      new Option('--scopes <list>', 'what the key may do, separated by commas')
        .argParser(options.scopes)
        .default(DEFAULT_SCOPES, DEFAULT_SCOPES.join(',')),
    )
    .option(
      '--expires <when>',
      'when the key ends: a date (midnight UTC), an ISO 8601 instant, or a duration from now: 90d',
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
    .addOption(new Option('--state <state>', 'only the keys in this state').choices(LISTED_STATES))
    .option('--unused-for <duration>', 'only keys that nobody has used for this time: 90d', options.duration)
    .option(
      '--expires-within <duration>',
      'only keys that still work and end within this time: 30d',
      options.duration,
    )
    .option(...options.JSON_OPTION)
    .action(listKeys);

  keys
    .command('find')
    .description('read an API key from standard input, and show its record')
    .option(...options.JSON_OPTION)
    .addHelpText('after', FIND_EXAMPLE)
    .action(findKey);

  keys
    .command('rotate')
    .argument('<id>', 'the number of the key', options.keyId)
    .description('create a new key with the same settings; the old key works until the grace time is over')
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
    const now = clock().unix;
    const expiresAt = expires?.(now);
    if (expiresAt !== undefined && expiresAt <= now) {
      throw new ServiceError('invalid_parameter', '--expires must lie in the future.');
    }
    const account = await accountFor(accounts, name, plan, custom);
    const settings = { account, environment, label, scopes, expiresAt };
    const issued = await issueKey(accounts, randomBytes, settings);
    if (json) printJson(issuedJson(issued));
    else printIssued(issued);
  });
}

function listKeys({ account: name, state, json, ...times }: ListOptions): Promise<void> {
  return withStore(async (context) => {
    const { clock, store } = context;
    const { accounts } = store;
    const account = name === undefined ? undefined : await existingAccount(accounts, name);
    const now = clock().unix;
    const isOfBanned = state === 'banned';
    const filter = isOfBanned ? times : { ...times, state };
    const listed = await accounts.listKeys({ accountId: account?.id, filter });
    const bans = await bansByKey(context, isOfBanned, (quotas) =>
      listed.length <= FEW_KEYS ? quotas.bansOf(listed) : quotas.listBans(),
    );
    const keys = listed
      .filter(({ id }) => !isOfBanned || bans?.has(id) === true)
      .map((key) => withBan(recordJson(key, now), bans));
    printRows(json, keys, RECORD_HEADER, recordCells);
  });
}

/** Without bans, JSON leaves the field out. */
function withBan(record: RecordJson, bans: ReadonlyMap<number, number> | undefined): RecordJson {
  return { ...record, bannedUntil: bans && instantOrNull(bans.get(record.id)) };
}

/** The ends of bans. Undefined without an answer of Redis, because the rest of a list is useful without bans. */
async function bansByKey(
  context: CommandContext,
  mustKnow: boolean,
  read: (quotas: RateLimitAdmin) => Promise<readonly KeyBan[]>,
) {
  try {
    const bans = await useQuotas(context, read);
    return new Map(bans.map(({ keyId, until }) => [keyId, until]));
  } catch (error) {
    const isOutage = error instanceof StartupError || error instanceof ServiceError;
    if (mustKnow || !isOutage) throw error;
    printError(`petstore: bans are not shown: ${error.message}`);
    return undefined;
  }
}

async function findKey({ json }: JsonOption): Promise<void> {
  if (process.stdin.isTTY) printError('Paste the key and press Enter:');
  // Never an argument: other users of the machine see arguments, and shells store them.
  const key = ApiKey.parse(await firstLine(process.stdin));
  if (key === undefined)
    throw new ServiceError('invalid_parameter', 'The first line of standard input must be a whole API key.');
  return withStore(async (context) => {
    const { clock, store } = context;
    const record = await store.accounts.findKeyByHash(key.hash());
    if (record === undefined) throw new ServiceError('not_found', 'This database has no such key.');
    const found = withBan(
      recordJson(record, clock().unix),
      await bansByKey(context, false, (quotas) => quotas.bansOf([record])),
    );
    if (json) return printJson(found);
    printTable(RECORD_HEADER, [recordCells(found)]);
    if (found.state !== 'revoked') printLine(`To end it for good: petstore keys revoke ${found.id}`);
  });
}

async function firstLine(input: AsyncIterable<Buffer | string>): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += chunk.toString();
    if (text.includes('\n') || text.length > LINE_MAX) break;
  }
  return text.split('\n', 1).join().trim();
}

function rotate(id: number, { grace, json }: JsonOption & { grace: number }): Promise<void> {
  return withStore(async ({ clock, store: { accounts } }) => {
    const rotated = await rotateKey(accounts, randomBytes, id, grace);
    const until = textFromInstant(rotated.replacedUntil);
    if (json) return printJson({ ...issuedJson(rotated), replaces: { id, expiresAt: until } });
    printIssued(rotated);
    printLine(
      rotated.replacedUntil > clock().unix ? `Key ${id} works until ${until}.` : `Key ${id} works no longer.`,
    );
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
