// Contract: sections 3.14 and 10.2.
import { describeEvents } from '../events/schema.ts';
import { randomBytes } from 'node:crypto';
import { choice, LIMIT, rowFilter, rowId, seconds, shortText } from '../../http/parameters.ts';
import { textIfInstant } from '../../domain/instant.ts';
import { LISTED_STATES } from '../../domain/states.ts';
import { mapPage } from '../../domain/page.ts';
import type { KeyRecord } from '../../domain/account.ts';
import { DEFAULT_SCOPES, type Scope } from '../../domain/scope.ts';
import { ApiKey, type Environment } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Clock } from '../../domain/clock.ts';
import { ListCount } from '../../domain/fields.ts';
import {
  act,
  create,
  forOperators,
  list,
  type OperatorCall,
  type OperatorOperation,
  type OperatorResource,
  read,
  remove,
  type Resource,
} from '../../http/operation.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { KeyListQuery, KeyRepository } from './repository.ts';
import { toKey, GRACE, KEY_SORTS, MOST_KEYS_A_DAY, MOST_LIVE_KEYS, TOO_MANY_KEYS } from './rules.ts';
import {
  EXAMPLE_KEY,
  FindKey,
  IssuedKey,
  IssuedOperatorKey,
  Key,
  NewKey,
  OperatorKey,
  OperatorNewKey,
  ROTATED_KEY,
  Rotation,
} from './schema.ts';

/** A key as operators see it. `now` and `bannedUntil` are in Unix milliseconds. */
function toOperatorKey(key: KeyRecord, now: number, bannedUntil?: number) {
  const { id, ...rest } = toKey(key, now);
  const { account, rotatedTo } = key;
  return {
    id,
    accountId: account.id,
    account: account.name,
    ...rest,
    rotatedTo,
    bannedUntil: textIfInstant(bannedUntil),
  };
}

/** A new key as the actor who made it sees it, with the key itself. */
function toIssuedKey(record: KeyRecord, key: ApiKey, actor: Actor, now: number) {
  const toShown = actor.kind === 'key' ? toKey : toOperatorKey;
  return { ...toShown(record, now), key: key.reveal() };
}

/** The scopes of a new key: of the defaults, those that the calling key has. */
function defaultScopes(caller: KeyRecord | undefined): readonly Scope[] {
  return DEFAULT_SCOPES.filter((scope) => caller === undefined || caller.scopes.includes(scope));
}

/* For clients. */

interface Uses {
  readonly keys: KeyRepository;
  readonly clock: Clock;
  readonly environment: Environment;
}

const keyId = rowFilter('Identifier of the key.', 7);

/** What the operations on the keys of the account have in common. */
const OWN = {
  scope: 'keys:manage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Roll your keys',
} as const;

const NO_DEFAULTS = 'scopes is required, because the calling key has none of the default scopes.';
const END_PASSED = 'expiresAt must lie in the future.';
const NO_KEY = 'This account has no key with this keyId in this environment.';
const LIMITS = `At most ${MOST_LIVE_KEYS} keys work at a time, and an account creates at most ${MOST_KEYS_A_DAY} keys in a UTC day.`;

const listKeys = list(Key, 'keys', {
  id: 'listKeys',
  path: '/account/keys',
  ...OWN,
  description:
    'Returns a page of the keys of this account and environment, the newest first, without the keys themselves.',
  sample: { client: 'keys.list', query: { limit: LIMIT.default } },
  async handle({ accountId, parameters, signal }, { keys, clock, environment }: Uses) {
    const page = await keys.list(environment, { accountId, ...parameters, signal });
    const now = clock().unix;
    return mapPage(page, (key) => toKey(key, now));
  },
});

const createKey = create(NewKey, IssuedKey, {
  id: 'createKey',
  path: '/account/keys',
  ...OWN,
  summary: 'Create a key',
  description:
    'Creates a key of this account and environment. Only this answer shows it. It can have the scopes that the calling key has. ' +
    '`pets:manage` needs `pets:write` beside it. ' +
    `A key that was rotated creates none. ${LIMITS}`,
  noStore: true,
  errors: {
    invalid_request: END_PASSED,
    insufficient_scope: 'The calling key lacks a scope of the new key, or was rotated.',
    conflict: `${TOO_MANY_KEYS}: revoke one first.`,
  },
  sample: { client: 'keys.create' },
  async handle({ accountId, actor, key: caller, body, idempotency }, { keys, clock, environment }: Uses) {
    const key = ApiKey.generate(environment, randomBytes);
    const settings = { scopes: defaultScopes(caller), ...body, key, accountId };
    if (settings.scopes.length === 0) return { error: 'invalid_request', message: NO_DEFAULTS };
    const created = await keys.create(actor, settings, idempotency);
    if ('error' in created) return created;
    return { value: toIssuedKey(created.value, key, actor, clock().unix) };
  },
});

const rotateKey = create(Rotation, IssuedKey, {
  id: 'rotateKey',
  path: '/account/keys/{keyId}/rotate',
  location: '/account/keys/{id}',
  ...OWN,
  summary: 'Rotate a key',
  description:
    'Creates a key that replaces another one, with the same settings. Only this answer shows it. The old key still works for ' +
    '`grace` seconds, but never past its own expiry. A key can rotate itself. A key that was rotated rotates none. ' +
    LIMITS,
  parameters: { keyId },
  noStore: true,
  errors: {
    not_found: NO_KEY,
    insufficient_scope: 'The calling key lacks a scope of the key, or was rotated.',
    conflict: 'Key 6 is already rotated into key 7: rotate that one.',
  },
  sample: { client: 'keys.rotate' },
  async handle({ actor, parameters, body, idempotency }, { keys, clock, environment: here }: Uses) {
    const { keyId: id } = parameters;
    const grace = (body.grace ?? GRACE.default) * 1_000;
    const old = await keys.find(id);
    const key = ApiKey.generate('value' in old ? old.value.environment : here, randomBytes);
    const rotated = await keys.rotate(actor, { id, key, grace }, idempotency);
    if ('error' in rotated) return rotated;
    return { value: toIssuedKey(rotated.value, key, actor, clock().unix) };
  },
});

const webhooksOfKey = choice(['disable'] as const, {
  description:
    '`disable`: also disables the webhooks that the key added or last pointed somewhere, in the same moment. The calling key needs `webhooks:manage` too.',
  example: 'disable',
});

const revokeKey = remove({
  id: 'revokeKey',
  path: '/account/keys/{keyId}',
  ...OWN,
  summary: 'Revoke a key',
  description:
    'Ends a key for good, within 5 seconds on every instance. A key that is revoked stays as it is. A key can revoke itself. ' +
    'Webhooks outlive the key that added them, its `createdBy`, unless `webhooks=disable` ends both.',
  parameters: { keyId, webhooks: webhooksOfKey },
  answer: 'The key is revoked, or was revoked before.',
  errors: {
    not_found: NO_KEY,
    insufficient_scope: 'With webhooks=disable, the calling key lacks webhooks:manage.',
    precondition_failed: 'A key has no ETag: leave If-Match out.',
  },
  sample: { client: 'keys.revoke' },
  async handle({ actor, parameters, ifMatch }, { keys }: Uses) {
    const { keyId: id, webhooks } = parameters;
    return keys.revoke(actor, id, { ifMatch, disablesWebhooks: webhooks === 'disable' });
  },
});

export const CLIENTS: Resource<Uses> = {
  name: 'Keys',
  description: 'The keys of your account, for keys with the scope `keys:manage`.',
  uses: { keys: true, clock: true, environment: true },
  operations: [listKeys, createKey, rotateKey, revokeKey],
};

/* For operators. */

interface OperatorUses extends Uses {
  readonly accounts: AccountRepository;
  readonly quotas: Pick<RateLimitAdmin, 'listBans' | 'findBans'>;
}

const keyNumber = rowId('Number of the key.');
const NO_SUCH_KEY = 'There is no key with this number.';

const listedState = choice(LISTED_STATES, {
  description: 'Keep only keys in this state.',
  example: 'active',
});

/** The filters of the list of keys and of its count. */
const KEY_FILTERS = {
  accountId: rowFilter('Keep only the keys of this account.'),
  search: shortText(100, {
    description:
      'Keep only keys whose label, or whose account by its name, contains this text, ignoring case; or whose ending or number is this text.',
    example: 'price board',
  }),
  state: listedState,
  unusedFor: seconds({
    description: 'Keep only keys that nobody has used for this time, in seconds.',
    example: 7_776_000,
  }),
  expiresWithin: seconds({
    description: 'Keep only keys that still work and end within this time, in seconds.',
    example: 2_592_000,
  }),
};

type KeyFilters = {
  readonly [Name in keyof typeof KEY_FILTERS]: ReturnType<(typeof KEY_FILTERS)[Name]['read']>;
};

const keySort = choice(KEY_SORTS, {
  description:
    'The order: by creation, last use or end. A name with `-` is descending. By `lastUsed`, a key that nobody has used comes first; by `expires`, one without an end comes last.',
  example: 'lastUsed',
});

const listAllKeys = list(OperatorKey, 'keys', {
  id: 'listKeys',
  path: '/keys',
  role: 'viewer',
  description:
    'Returns a page of the keys of this environment, by default the newest first, without the keys themselves.',
  parameters: {
    ...KEY_FILTERS,
    sort: keySort,
  },
  async handle({ parameters, signal }, uses: OperatorUses) {
    const { keys, clock, environment, quotas } = uses;
    const { limit, cursor, sort, ...filters } = parameters;
    const query = await toKeyQuery(filters, uses);
    const page = await keys.list(environment, { ...query, sort, limit, cursor, signal });
    const bans = new Map((await quotas.findBans(page.items)).map((ban) => [ban.keyId, ban.until]));
    const now = clock().unix;
    return mapPage(page, (key) => toOperatorKey(key, now, bans.get(key.id)));
  },
});

const countKeys = read(ListCount, {
  id: 'countKeys',
  path: '/keys/count',
  role: 'viewer',
  summary: 'Count keys',
  description: 'Returns how many keys of this environment a list has, with these filters and without.',
  parameters: KEY_FILTERS,
  async handle({ parameters, signal }, uses: OperatorUses) {
    const { keys, environment } = uses;
    const count = await keys.count(environment, await toKeyQuery(parameters, uses), signal);
    return { value: { count, total: await keys.count(environment, {}, signal) } };
  },
});

/** Only bans know which keys are banned. */
async function toKeyQuery(
  { accountId, state, unusedFor, expiresWithin, search }: KeyFilters,
  { quotas }: Pick<OperatorUses, 'quotas'>,
): Promise<KeyListQuery> {
  const filter = {
    search,
    unusedFor: toMilliseconds(unusedFor),
    expiresWithin: toMilliseconds(expiresWithin),
  };
  if (state !== 'banned') return { accountId, filter: { ...filter, state } };
  return { accountId, filter, ids: (await quotas.listBans({ accountId })).map((ban) => ban.keyId) };
}

function toMilliseconds(time: number | undefined): number | undefined {
  return time === undefined ? undefined : time * 1_000;
}

const findKey = act(OperatorKey, {
  input: FindKey,
  id: 'findKey',
  path: '/keys/find',
  role: 'viewer',
  summary: 'Find a key',
  description:
    'Returns the record of a key from its text, for example after a leak. The key goes in the body, so that no log has it.',
  errors: { not_found: 'This database has no such key.' },
  async handle({ body }, { keys, clock }: OperatorUses) {
    const key = ApiKey.parse(body.key);
    const record = key && (await keys.findByHash(key.hash()));
    return record === undefined ? { error: 'not_found' } : { value: toOperatorKey(record, clock().unix) };
  },
});

/** Answers 404 when there is no such account as the path names. */
function requireAccount(operation: OperatorOperation<Uses>): OperatorOperation<OperatorUses> {
  return {
    ...operation,
    async handle(call: OperatorCall, uses) {
      const account = await uses.accounts.get(Number(call.parameters['accountId']));
      return 'error' in account ? account : operation.handle(call as never, uses);
    },
  };
}

const createKeyOfAccount = requireAccount(
  forOperators(createKey, {
    role: 'admin',
    path: '/accounts/{accountId}/keys',
    description:
      'Creates a key of this environment. Only this answer shows it. The scope `pets:manage` needs `pets:write` beside it.',
    parameters: { accountId: rowId('Number of the account.') },
    input: OperatorNewKey,
    schema: IssuedOperatorKey,
    errors: {
      not_found: 'There is no account with this number.',
      invalid_request: END_PASSED,
    },
  }),
);

const rotateAnyKey = forOperators(rotateKey, {
  role: 'admin',
  path: '/keys/{keyId}/rotate',
  description:
    'Creates a key with the same settings. The old key works for `grace` more seconds, but never past its own expiry.',
  parameters: { keyId: keyNumber },
  schema: IssuedOperatorKey,
  errors: { not_found: NO_SUCH_KEY, conflict: 'This key is rotated already, expired or revoked.' },
});

const revokeAnyKey = forOperators(revokeKey, {
  role: 'admin',
  path: '/keys/{keyId}',
  description: 'Ends a key for good, within 5 seconds on every instance.',
  parameters: { keyId: keyNumber },
  errors: { not_found: NO_SUCH_KEY },
});

export const OPERATORS: OperatorResource<OperatorUses> = {
  name: 'Keys',
  description: 'API keys: find, create, rotate, revoke.',
  uses: { keys: true, clock: true, environment: true, accounts: true, quotas: true },
  operations: [listAllKeys, countKeys, createKeyOfAccount, findKey, rotateAnyKey, revokeAnyKey],
};

export const EVENTS = describeEvents('key', Key, {
  id: 'KeyEvent',
  description: 'Something happened to a key of the account. `data` is the key, without the key itself.',
  hasVersion: false,
  types: {
    'key.created': { when: 'A key was created, also by the rotation of another one.' },
    'key.rotated': {
      when: 'A key was replaced by a new one. It still works until it expires.',
      data: { ...ROTATED_KEY, expiresAt: '2027-01-16T09:00:00.000Z' },
    },
    'key.revoked': {
      when: 'A key was revoked. It has ended for good.',
      data: { ...EXAMPLE_KEY, state: 'revoked' },
    },
    'key.banned': { when: 'A key was banned for a while, because it went on sending requests after a 429.' },
    'key.expiring': {
      when: 'A key that was not rotated expires within 7 days. This comes once.',
      data: { ...EXAMPLE_KEY, expiresAt: '2027-01-22T08:00:00.000Z' },
    },
  },
});
