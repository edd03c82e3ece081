// Contract: sections 5 and 8.
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { Account, KeyRecord } from '../../domain/account.ts';
import { DEFAULT_SCOPES, type Scope } from '../../domain/scope.ts';
import { ApiKey } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import { DAY } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { Plan } from '../../domain/plan.ts';
import type { Result } from '../../domain/result.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import type { Output } from '../../terminal/output.ts';
import * as options from '../../terminal/options.ts';
import type { JsonOption, LimitOptions } from '../../terminal/options.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { visibleStreams } from '../events/rules.ts';
import type { KeyFilter, KeyRepository } from './repository.ts';
import { describeKeyCells, toCommandKey, toListedKey, KEY_COLUMNS, readBans } from './key-table.ts';
import { rotatedExpiry } from './rules.ts';
import { LISTED_STATES } from '../../domain/states.ts';

interface Repositories {
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  /** Absent in a program without webhooks. */
  readonly webhooks?: {
    listAll(query: { readonly keyId: number; readonly limit: number; readonly cursor: undefined }): Promise<{
      readonly items: readonly {
        readonly id: number;
        readonly url: string;
        readonly disabledReason?: string | undefined;
      }[];
    }>;
  };
}

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

/** Webhooks that `revoke` and `set` name: more than an account can have. */
const MOST_SHOWN = 100;

/** Characters. A key has 52. */
const LINE_MAX = 1_024;

const CREATE_EXAMPLES = `
Examples:
  petstore keys create --account shop
  petstore keys create --account shelter --plan free
  petstore keys create --account shop --scopes pets:read --expires 90d --label "price board"
  petstore keys create --account chain --plan enterprise --per-minute 5000 --per-day 1000000`;

const SET_EXAMPLE = `
Example:
  petstore keys set 3 --scopes pets:read,pets:write,store:read,store:write,events:read`;

const FIND_EXAMPLE = `
Example:
  petstore keys find < leaked-key.txt`;

export function keysCommands(program: Command, terminal: Terminal<Repositories>): void {
  const { withStore, printJson, printLine } = terminal;
  const group = program.command('keys').description('API keys: create, list, rotate, set, revoke');

  options
    .limitOptions(
      group
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
    .action(({ account: name, plan, scopes, expires, label, json, ...custom }: CreateOptions) =>
      withStore(async ({ config: { environment }, clock, store, actor }) => {
        const now = clock().unix;
        const expiresAt = expires?.(now);
        if (expiresAt !== undefined && expiresAt <= now)
          throw new ServiceError('invalid_parameter', '--expires must lie in the future.');
        const account = await findOrCreateAccount(store.accounts, actor, name, plan, custom);
        const accountId = requireValue(account).id;
        const key = ApiKey.generate(environment, randomBytes);
        const created = await store.keys.create(actor, { key, accountId, label, scopes, expiresAt });
        printIssued(terminal, key, requireValue(created), json);
      }),
    );

  group
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
    .action((listOptions: ListOptions) => listKeys(terminal, listOptions));

  group
    .command('find')
    .description('read an API key from standard input, and show its record')
    .option(...options.JSON_OPTION)
    .addHelpText('after', FIND_EXAMPLE)
    .allowExcessArguments()
    .action((findOptions: JsonOption, { args }: Command) => {
      if (args.length > 0)
        throw new ServiceError(
          'invalid_parameter',
          'Give the key on standard input: others see arguments, and shells store them.',
        );
      return findKey(terminal, findOptions);
    });

  group
    .command('rotate')
    .argument('<id>', 'the number of the key', options.keyId)
    .description('create a new key with the same settings; the old key works until the grace time is over')
    .addOption(
      new Option('--grace <duration>', 'how long: 0, 90s, 30m, 24h, 7d; never past its own expiry')
        .argParser(options.duration)
        .default(DAY, '24h'),
    )
    .option(...options.JSON_OPTION)
    .action((id: number, { grace, json }: JsonOption & { readonly grace: number }) =>
      withStore(async ({ clock, store: { keys }, actor }) => {
        const old = requireValue(await keys.find(id));
        const key = ApiKey.generate(old.environment, randomBytes);
        const record = requireValue(await keys.rotate(actor, { id, key, grace }));
        // Nothing is read from here on: if that failed, nobody would see the new key.
        const expiresAt = rotatedExpiry(old, record.createdAt, grace);
        const end = textFromInstant(expiresAt);
        printIssued(terminal, key, record, json, { replaces: { id, expiresAt: end } });
        if (!json)
          printLine(
            expiresAt > clock().unix ? `Key ${id} works until ${end}.` : `Key ${id} works no longer.`,
          );
      }),
    );

  group
    .command('set')
    .argument('<id>', 'the number of the key', options.keyId)
    .description(
      'change the scopes of a key; the service follows within 5 seconds; names the webhooks that it added if it now sees fewer events',
    )
    .addOption(
      new Option('--scopes <list>', 'all that the key may do from now on, separated by commas')
        .argParser(options.scopes)
        .makeOptionMandatory(),
    )
    .option(...options.JSON_OPTION)
    .addHelpText('after', SET_EXAMPLE)
    .action((id: number, { scopes, json }: JsonOption & { readonly scopes: readonly Scope[] }) =>
      withStore(async ({ clock, store: { keys, webhooks }, actor }) => {
        const { key, before } = requireValue(await keys.setScopes(actor, id, scopes));
        const ofKey = await listWebhooks(webhooks, id);
        if (json) return printJson({ ...toCommandKey(key, clock().unix), webhooks: ofKey });
        const has = scopes.join() === before.join() ? 'has these scopes already:' : 'now has the scopes';
        printLine(`Key ${id} of account ${key.account.name} ${has} ${scopes.join(' ')}.`);
        const countSeen = (seeing: readonly Scope[]) =>
          visibleStreams({ accountId: key.account.id, environment: key.environment, scopes: seeing }).length;
        if (countSeen(scopes) < countSeen(before))
          for (const webhook of ofKey) printLine(describeWebhook(webhook, 'what the key could see then'));
      }),
    );

  group
    .command('revoke')
    .argument('<id>', 'the number of the key', options.keyId)
    .description(
      'end a key for good, within 5 seconds on every instance; names the webhooks that it added or last pointed somewhere',
    )
    .option(...options.JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      withStore(async ({ clock, store: { keys, webhooks }, actor }) => {
        const key = requireValue(await keys.revoke(actor, id));
        const ofKey = await listWebhooks(webhooks, id);
        if (json) return printJson({ ...toCommandKey(key, clock().unix), webhooks: ofKey });
        printLine(`Key ${key.id} of account ${key.account.name} is revoked.`);
        for (const webhook of ofKey) printLine(describeWebhook(webhook, 'events'));
      }),
    );
}

interface NamedWebhook {
  readonly id: number;
  readonly url: string;
  readonly enabled: boolean;
}

/** The webhooks that a key added or last pointed somewhere. They go on whatever becomes of the key. */
async function listWebhooks(
  webhooks: Repositories['webhooks'],
  keyId: number,
): Promise<readonly NamedWebhook[]> {
  const page = await webhooks?.listAll({ keyId, limit: MOST_SHOWN, cursor: undefined });
  return (page?.items ?? []).map(({ id, url, disabledReason }) => ({
    id,
    url,
    enabled: disabledReason === undefined,
  }));
}

function describeWebhook({ id, url, enabled }: NamedWebhook, gets: string): string {
  return (
    `Webhook ${id} to ${url}, which it added or last pointed there, ` +
    (enabled ? `still gets ${gets}: petstore webhooks disable ${id}` : 'is disabled.')
  );
}

/**
 * The account called `name`, made with `plan` when there is none yet. `not_found`: there is none and no plan is given, because
 * the name may be mistyped. `conflict`: it has another plan or other limits.
 */
export async function findOrCreateAccount(
  accounts: AccountRepository,
  actor: Actor,
  name: string,
  plan: Plan | undefined,
  custom: LimitOptions,
): Promise<Result<Account, 'invalid_request' | 'not_found' | 'conflict'>> {
  const found =
    plan === undefined ? await accounts.find(name) : await accounts.findOrCreate(actor, name, plan, custom);
  if ('error' in found) {
    if (found.error !== 'not_found') return found;
    return { ...found, message: `${found.message} To create it, add its plan, for example --plan free.` };
  }
  const account = found.value;
  const { perMinute, perDay } = account.limits;
  const isSame =
    (plan ?? account.plan) === account.plan &&
    (custom.perMinute ?? perMinute) === perMinute &&
    (custom.perDay ?? perDay) === perDay;
  if (isSame) return found;
  return {
    error: 'conflict',
    message:
      `The account ${account.name} has plan ${account.plan} with ${perMinute} requests per minute and ` +
      `${perDay} per day: change it with petstore accounts set.`,
  };
}

function listKeys(terminal: Terminal<Repositories>, { account: name, state, json, ...times }: ListOptions) {
  return terminal.withStore(async (context) => {
    const { clock, store } = context;
    const account = name === undefined ? undefined : requireValue(await store.accounts.find(name));
    const filter = state === 'banned' ? times : { ...times, state };
    const listed = await store.keys.listAll({ accountId: account?.id, filter });
    const read = (quotas: RateLimitAdmin) => readBans(quotas, listed);
    const bans = await (state === 'banned'
      ? terminal.useQuotas(context, read)
      : terminal.tryQuotas(context, 'bans', read));
    const now = clock().unix;
    const keys = listed
      .filter(({ id }) => state !== 'banned' || bans?.has(id) === true)
      .map((key) => toListedKey(key, now, bans));
    terminal.printRows(json, keys, KEY_COLUMNS, describeKeyCells);
  });
}

async function findKey(terminal: Terminal<Repositories>, { json }: JsonOption): Promise<void> {
  const { printJson, printLine, printTable, printError } = terminal;
  const { stdin } = terminal.system;
  if (stdin.isTTY) printError('Paste the key and press Enter:');
  // Never an argument: other users of the machine see arguments, and shells store them.
  const key = ApiKey.parse(await firstLine(stdin));
  if (key === undefined)
    throw new ServiceError('invalid_parameter', 'The first line of standard input must be a whole API key.');
  return terminal.withStore(async (context) => {
    const record = await context.store.keys.findByHash(key.hash());
    if (record === undefined) throw new ServiceError('not_found', 'This database has no such key.');
    const bans = await terminal.tryQuotas(context, 'bans', (quotas) => readBans(quotas, [record]));
    const found = toListedKey(record, context.clock().unix, bans);
    if (json) return printJson(found);
    printTable(KEY_COLUMNS, [describeKeyCells(found)]);
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

/** Prints a new key: with `json`, with more members. Nothing else prints a key. */
function printIssued(
  { printJson, printLine, printSecret }: Output,
  key: ApiKey,
  record: KeyRecord,
  json: true | undefined,
  more = {},
): void {
  const { id, account, plan, environment, scopes, label, expiresAt } = toCommandKey(record, record.createdAt);
  const settings = { account, plan, environment, scopes, label, expiresAt };
  if (json) return printJson({ id, key: key.reveal(), ...settings, ...more });
  const end = expiresAt === null ? '' : `, until ${expiresAt}`;
  printLine(`Key ${id} of account ${account} (plan ${plan}), for ${environment}, ${scopes.join(' ')}${end}:`);
  printSecret(key.reveal());
  if (record.account.suspendedAt !== undefined)
    printLine(`Account ${account} is suspended: the key is refused until petstore accounts resume.`);
}
