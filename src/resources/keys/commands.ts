// Contract: sections 5 and 8.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Account, KeyRecord } from '../../domain/account.ts';
import { DEFAULT_SCOPES, type Scope } from '../../domain/scope.ts';
import { ApiKey } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import { DAY } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { type Limits, type Plan, PLAN_NAMES } from '../../domain/plan.ts';
import type { Result } from '../../domain/result.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import {
  command,
  type CommandContext,
  findNamed,
  group,
  requireValue,
  type Terminal,
} from '../../terminal/command.ts';
import { readDuration, readId, readLabel, readScopes } from '../../terminal/parsers.ts';
import {
  argument,
  choice,
  instantAhead,
  JSON_OPTION,
  LIMITS,
  option,
  required,
  withDefault,
} from '../../terminal/takers.ts';
import { secretLines, table, view, type View, viewRows } from '../../terminal/view.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { visibleStreams } from '../events/rules.ts';
import type { KeyRepository } from './repository.ts';
import { toCommandKey, toListedKey, KEY_COLUMNS, readBans } from './key-view.ts';
import { rotatedExpiry } from './rules.ts';
import { LISTED_STATES } from '../../domain/states.ts';

type Context = CommandContext<{
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  /** Absent in a program without webhooks. */
  readonly webhooks?: { listOfKey(keyId: number): Promise<readonly KeyWebhook[]> };
}>;

interface KeyWebhook {
  readonly id: number;
  readonly url: string;
  readonly enabled: boolean;
}

/** Characters. A key has 52. */
const LINE_MAX = 1_024;

const FIND_EXAMPLE = `
Example:
  petstore keys find < leaked-key.txt`;

const KEY = argument('<id>', 'the number of the key', readId);

export const keysCommands = group('keys', 'API keys: create, list, rotate, set, revoke', [
  command('create', {
    description: 'create a key and show it once; with --plan, also its account if there is none',
    takes: {
      account: required(option('<name>', 'the account it belongs to')),
      plan: choice('<plan>', 'the plan of a new account', PLAN_NAMES),
      ...LIMITS,
      scopes: withDefault(
        option('<list>', 'what the key may do, separated by commas', readScopes),
        DEFAULT_SCOPES,
        DEFAULT_SCOPES.join(','),
      ),
      expires: instantAhead('when the key ends'),
      label: option('<text>', 'a note to recognize the key by', readLabel),
    },
    examples: [
      'petstore keys create --account shop',
      'petstore keys create --account shelter --plan free',
      'petstore keys create --account shop --scopes pets:read --expires 90d --label "price board"',
      'petstore keys create --account chain --plan enterprise --per-minute 5000 --per-day 1000000',
    ],
    run: async ({ account, plan, scopes, expires, label, ...custom }, context: Context) => {
      const { config, clock, store, actor } = context;
      const now = clock().unix;
      const expiresAt = expires?.(now);
      if (expiresAt !== undefined && expiresAt <= now)
        throw new ServiceError('invalid_parameter', '--expires must lie in the future.');
      const found = await findOrCreateAccount(store.accounts, actor, account, plan, custom);
      const accountId = requireValue(found).id;
      const key = ApiKey.generate(config.environment, randomBytes);
      const created = await store.keys.create(actor, { key, accountId, label, scopes, expiresAt });
      return viewIssued(key, requireValue(created));
    },
  }),

  command('list', {
    description: 'list the records of keys; the time of last use is up to a minute old',
    takes: {
      account: option('<name>', 'only the keys of one account'),
      state: choice('<state>', 'only the keys in this state', LISTED_STATES),
      unusedFor: option('<duration>', 'only keys that nobody has used for this time: 90d', readDuration),
      expiresWithin: option(
        '<duration>',
        'only keys that still work and end within this time: 30d',
        readDuration,
      ),
    },
    run: async ({ account, state, ...times }, { store, clock, useQuotas, tryQuotas }: Context) => {
      const accountId = (await findNamed(store.accounts, account))?.id;
      const filter = state === 'banned' ? times : { ...times, state };
      const listed = await store.keys.listAll({ accountId, filter });
      const read = (quotas: RateLimitAdmin) => readBans(quotas, listed);
      const bans = await (state === 'banned' ? useQuotas(read) : tryQuotas('bans', read));
      const now = clock().unix;
      const keys = listed
        .filter(({ id }) => state !== 'banned' || bans?.has(id) === true)
        .map((key) => toListedKey(key, now, bans));
      return viewRows(KEY_COLUMNS, keys);
    },
  }),

  findKey,

  command('rotate', {
    description: 'create a new key with the same settings; the old key works until the grace time is over',
    takes: {
      id: KEY,
      grace: withDefault(
        option('<duration>', 'how long: 0, 90s, 30m, 24h, 7d; never past its own expiry', readDuration),
        DAY,
        '24h',
      ),
    },
    run: async ({ id, grace }, { clock, store: { keys }, actor }: Context) => {
      const old = requireValue(await keys.find(id));
      const key = ApiKey.generate(old.environment, randomBytes);
      const record = requireValue(await keys.rotate(actor, { id, key, grace }));
      // Nothing is read from here on: if that failed, nobody would see the new key.
      const expiry = rotatedExpiry(old, record.createdAt, grace);
      const expiresAt = textFromInstant(expiry);
      const end = expiry > clock().unix ? `until ${expiresAt}` : 'no longer';
      return viewIssued(key, record, { replaces: { id, expiresAt } }, `Key ${id} works ${end}.`);
    },
  }),

  command('set', {
    description:
      'change the scopes of a key; the service follows within 5 seconds; names the webhooks that it added if it now sees fewer events',
    takes: {
      id: KEY,
      scopes: required(
        option('<list>', 'all that the key may do from now on, separated by commas', readScopes),
      ),
    },
    examples: ['petstore keys set 3 --scopes pets:read,pets:write,store:read,store:write,events:read'],
    run: async ({ id, scopes }, context: Context) => {
      const { key, before } = requireValue(await context.store.keys.setScopes(context.actor, id, scopes));
      const has = scopes.join() === before.join() ? 'has these scopes already:' : 'now has the scopes';
      const countSeen = (seeing: readonly Scope[]) =>
        visibleStreams({ accountId: key.account.id, environment: key.environment, scopes: seeing }).length;
      return viewChanged(
        context,
        key,
        `Key ${id} of account ${key.account.name} ${has} ${scopes.join(' ')}.`,
        countSeen(scopes) < countSeen(before) ? 'what the key could see then' : undefined,
      );
    },
  }),

  command('revoke', {
    description:
      'end a key for good, within 5 seconds on every instance; names the webhooks that it added or last pointed somewhere',
    takes: { id: KEY },
    run: async ({ id }, context: Context) => {
      const key = requireValue(await context.store.keys.revoke(context.actor, id));
      const line = `Key ${key.id} of account ${key.account.name} is revoked.`;
      return viewChanged(context, key, line, 'events');
    },
  }),
]);

/**
 * The account called `name`, made with `plan` when there is none yet. `not_found`: there is none and no plan is given, because
 * the name may be mistyped. `conflict`: it has another plan or other limits.
 */
export async function findOrCreateAccount(
  accounts: AccountRepository,
  actor: Actor,
  name: string,
  plan: Plan | undefined,
  custom: Partial<Limits>,
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

/**
 * A key that changed, with the webhooks that it added or last pointed somewhere: they go on whatever becomes of the key. Lines name
 * them if they still get something: `gets`.
 */
async function viewChanged(
  { clock, store }: Context,
  key: KeyRecord,
  line: string,
  gets: string | undefined,
): Promise<View> {
  const webhooks = (await store.webhooks?.listOfKey(key.id)) ?? [];
  const lines = webhooks.map(
    ({ id, url, enabled }) =>
      `Webhook ${id} to ${url}, which it added or last pointed there, ` +
      (enabled ? `still gets ${gets}: petstore webhooks disable ${id}` : 'is disabled.'),
  );
  return view({ ...toCommandKey(key, clock().unix), webhooks }, line, ...(gets === undefined ? [] : lines));
}

/** No declaration, because it answers a key that is typed as an argument, and help must not offer one. */
function findKey(program: Command, terminal: Terminal<Context>): void {
  program
    .command('find')
    .description('read an API key from standard input, and show its record')
    .option(...JSON_OPTION)
    .addHelpText('after', FIND_EXAMPLE)
    .allowExcessArguments()
    .action(async ({ json }: { readonly json?: true }, { args }: Command) => {
      if (args.length > 0)
        throw new ServiceError(
          'invalid_parameter',
          'Give the key on standard input: others see arguments, and shells store them.',
        );
      const { stdin } = terminal.system;
      if (stdin.isTTY) terminal.printError('Paste the key and press Enter:');
      const key = ApiKey.parse(await firstLine(stdin));
      if (key === undefined)
        throw new ServiceError(
          'invalid_parameter',
          'The first line of standard input must be a whole API key.',
        );
      await terminal.withStore(async ({ store, clock, tryQuotas }) => {
        const record = await store.keys.findByHash(key.hash());
        if (record === undefined) throw new ServiceError('not_found', 'This database has no such key.');
        const bans = await tryQuotas('bans', (quotas) => readBans(quotas, [record]));
        const found = toListedKey(record, clock().unix, bans);
        const end = `To end it for good: petstore keys revoke ${found.id}`;
        const show = view(found, table(KEY_COLUMNS, [found]), ...(found.state === 'revoked' ? [] : [end]));
        await show(terminal, json);
      });
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

/** A new key, and more members or lines. Nothing else prints a key. */
function viewIssued(key: ApiKey, record: KeyRecord, more = {}, ...lines: readonly string[]): View {
  const { id, account, plan, environment, scopes, label, expiresAt } = toCommandKey(record, record.createdAt);
  const end = expiresAt === null ? '' : `, until ${expiresAt}`;
  return view(
    { id, key: key.reveal(), account, plan, environment, scopes, label, expiresAt, ...more },
    `Key ${id} of account ${account} (plan ${plan}), for ${environment}, ${scopes.join(' ')}${end}:`,
    ...secretLines(key.reveal()),
    ...(record.account.suspendedAt === undefined
      ? []
      : [`Account ${account} is suspended: the key is refused until petstore accounts resume.`]),
    ...lines,
  );
}
