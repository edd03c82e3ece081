// Contract: sections 3.14 and 10.2.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { choice, int64, LIMIT, readCursorNumber, rowFilter, rowId, seconds } from '../../http/parameters.ts';
import { instantFromText, textIfInstant } from '../../domain/instant.ts';
import { describePage } from '../../domain/page.ts';
import { DEFAULT_SCOPES, type KeyRecord, keyState } from '../../domain/account.ts';
import { ApiKey, type Environment } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import { type ErrorCode, ServiceError } from '../../domain/errors.ts';
import { ScopeName } from '../../domain/fields.ts';
import type { Result } from '../../domain/result.ts';
import { act, create, list, type OperatorResource, remove, type Resource } from '../../http/operation.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { KeyPageQuery, KeyRepository } from './repository.ts';
import { GRACE, LISTED_STATES, MOST_KEYS_A_DAY, MOST_LIVE_KEYS, TOO_MANY_KEYS } from './rules.ts';
import {
  FindKey,
  IssuedKey,
  IssuedOperatorKey,
  Key,
  KeyState,
  NewKey,
  OperatorKey,
  OperatorKeys,
  OperatorNewKey,
  OperatorRotation,
  Rotation,
} from './schema.ts';

/** A key as its account sees it at the instant `now` (Unix milliseconds). */
function describeKey(key: KeyRecord, now: number) {
  const { id, label, environment, scopes, createdAt, expiresAt, lastUsedAt, ending } = key;
  return {
    id,
    label,
    environment,
    scopes,
    state: keyState(key, now),
    createdAt: textIfInstant(createdAt),
    expiresAt: textIfInstant(expiresAt),
    lastUsedAt: textIfInstant(lastUsedAt),
    ending,
  };
}

/** A key as operators see it. `now` and `bannedUntil` are in Unix milliseconds. */
function describeForOperator(key: KeyRecord, now: number, bannedUntil?: number) {
  const { id, ...rest } = describeKey(key, now);
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

/** The result with the description of the new key, and the key itself. */
function issued<Code extends ErrorCode>(
  result: Result<KeyRecord, Code>,
  key: ApiKey,
  clock: Clock,
  describe: typeof describeKey = describeKey,
) {
  if ('error' in result) return result;
  return { value: { ...describe(result.value, clock().unix), key: key.reveal() } };
}

/* For clients. */

const NEW_KEY = { label: 'web', scopes: ['pets:read'] };
const ROTATION = { grace: GRACE.default };
const KEY = {
  id: 7,
  label: 'web',
  environment: 'production',
  scopes: ['pets:read'],
  state: 'active',
  createdAt: '2026-12-01T12:00:00.000Z',
  ending: 'x7Qf',
};
const USED = { ...KEY, lastUsedAt: '2026-12-01T12:30:00.000Z' };
const OLDER = { ...USED, id: 6, state: 'rotated', expiresAt: '2026-12-02T12:00:00.000Z', ending: 'Bb0k' };
/** Not a key of the service: its checksum is wrong. */
const ISSUED = { ...KEY, key: `petstore_live_${'0'.repeat(34)}x7Qf` };

interface Repositories {
  readonly keys: KeyRepository;
  readonly clock: Clock;
}

const Keys = z
  .array(Key)
  .max(LIMIT.maximum)
  .meta({ id: 'Keys', description: 'Keys of an account, the newest first.' });

const keyId = int64({ description: 'Identifier of the key.', example: KEY.id });

/** What the operations on the keys of the account have in common. */
const OWN = {
  scope: 'keys:manage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Roll your keys',
} as const;

const NO_KEY = 'This account has no key with this keyId in this environment.';
const LIMITS = `At most ${MOST_LIVE_KEYS} keys work at a time, and an account creates at most ${MOST_KEYS_A_DAY} keys in a UTC day.`;

const listKeys = list(Keys, 'keys', {
  id: 'listKeys',
  path: '/account/keys',
  ...OWN,
  description:
    'Returns a page of the keys of this account and environment, the newest first, without the keys themselves.',
  examples: { rotated: { summary: 'A key, and the one that it replaces', value: [USED, OLDER] } },
  sample: { client: 'keys.list', query: { limit: LIMIT.default } },
  async handle({ key, accountId, parameters: { limit, cursor } }, { keys, clock }: Repositories) {
    const found = await keys.page(key.environment, { accountId, before: cursor, limit: limit + 1 });
    const now = clock().unix;
    return describePage(found, limit, (record) => describeKey(record, now));
  },
});

const createKey = create(NewKey, IssuedKey, {
  id: 'createKey',
  path: '/account/keys',
  ...OWN,
  summary: 'Create a key',
  description:
    'Creates a key of this account and environment. Only this answer shows it. It can have the scopes that the calling key has. ' +
    `A key that was rotated creates none. ${LIMITS}`,
  body: {
    description: 'The key to create.',
    examples: {
      reader: { summary: 'A key that reads animals', value: NEW_KEY },
      year: { summary: 'A key that ends', value: { ...NEW_KEY, expiresAt: '2027-12-01T00:00:00Z' } },
      simple: { summary: 'A key with the default scopes', value: {} },
    },
  },
  answer: {
    description: 'The key was created. The body holds the key itself, which is never shown again.',
    examples: { created: { summary: 'The new key', value: ISSUED } },
    isSecret: true,
  },
  errors: {
    invalid_request: 'expiresAt must lie in the future.',
    insufficient_scope: 'The calling key lacks a scope of the new key, or was rotated.',
    conflict: `${TOO_MANY_KEYS}: revoke one first.`,
  },
  sample: { client: 'keys.create' },
  async handle({ key: { environment }, accountId, actor, body, idempotency }, { keys, clock }: Repositories) {
    const { label, scopes = DEFAULT_SCOPES, expiresAt: end } = body;
    const expiresAt = end === undefined ? undefined : instantFromText(end);
    const key = ApiKey.generate(environment, randomBytes);
    const settings = { key, accountId, label, scopes, expiresAt };
    return issued(await keys.create(actor, settings, idempotency), key, clock);
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
  body: {
    description: 'How to rotate the key.',
    examples: {
      day: { summary: 'The old key works for a day', value: ROTATION },
      atOnce: { summary: 'The old key ends at once', value: { grace: 0 } },
    },
  },
  answer: {
    description: 'The new key was created. The body holds the key itself, which is never shown again.',
    examples: { created: { summary: 'The new key', value: ISSUED } },
    isSecret: true,
  },
  errors: {
    not_found: NO_KEY,
    insufficient_scope: 'The calling key lacks a scope of the key, or was rotated.',
    conflict: 'Key 6 is already rotated into key 7: rotate that one.',
  },
  sample: { client: 'keys.rotate' },
  async handle(
    { key: { environment }, actor, parameters, body, idempotency },
    { keys, clock }: Repositories,
  ) {
    const grace = Number(body.grace ?? GRACE.default) * 1_000;
    const key = ApiKey.generate(environment, randomBytes);
    const rotation = { id: parameters.keyId, key, grace };
    return issued(await keys.rotate(actor, rotation, idempotency), key, clock);
  },
});

const revokeKey = remove({
  id: 'revokeKey',
  path: '/account/keys/{keyId}',
  ...OWN,
  summary: 'Revoke a key',
  description:
    'Ends a key for good, within 5 seconds on every instance. A key that is revoked stays as it is. A key can revoke itself.',
  parameters: { keyId },
  answer: 'The key is revoked, or was revoked before.',
  errors: {
    not_found: NO_KEY,
    precondition_failed: 'A key has no ETag: leave If-Match out.',
  },
  sample: { client: 'keys.revoke' },
  async handle({ actor, parameters, ifMatch }, { keys }: Repositories) {
    return keys.revoke(actor, parameters.keyId, ifMatch);
  },
});

export const CLIENT_KEYS: Resource<Repositories> = {
  name: 'Keys',
  description: 'The keys of your account, for keys with the scope `keys:manage`.',
  schemas: [
    { schema: ScopeName, example: 'pets:read' },
    { schema: KeyState, example: KEY.state },
    { schema: NewKey, example: NEW_KEY },
    { schema: Rotation, example: ROTATION },
    { schema: Key, example: KEY },
    { schema: IssuedKey, example: ISSUED },
    { schema: Keys, example: [USED, OLDER] },
  ],
  operations: [listKeys, createKey, rotateKey, revokeKey],
};

/* For operators. */

interface OperatorRepositories {
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly quotas: Pick<RateLimitAdmin, 'listBans' | 'findBans'>;
}

const OPERATOR_KEY = {
  id: 7,
  accountId: 1,
  account: 'shop',
  label: 'price board',
  environment: 'production',
  scopes: ['pets:read'],
  state: 'active',
  createdAt: '2026-11-23T14:05:12.645Z',
  ending: 'x7Qa',
};

const ISSUED_TO_OPERATOR = { ...OPERATOR_KEY, key: 'petstore_live_…' };

/** Keys that one statement names. */
const KEYS_READ = 500;

const accountId = rowId('Number of the account.');
const keyNumber = rowId('Number of the key.');
const NO_ACCOUNT = 'There is no account with this number.';
const NO_SUCH_KEY = 'There is no key with this number.';

const listedState = choice(LISTED_STATES, {
  description: 'Keep only keys in this state.',
  example: 'active',
});

const listAllKeys = list(OperatorKeys, 'keys', {
  id: 'listKeys',
  path: '/keys',
  role: 'viewer',
  description:
    'Returns a page of the keys of this environment, the newest first, without the keys themselves.',
  filters: {
    accountId: rowFilter('Keep only the keys of this account.'),
    state: listedState,
    unusedFor: seconds({
      description: 'Keep only keys that nobody has used for this time, in seconds.',
      example: 7_776_000,
    }),
    expiresWithin: seconds({
      description: 'Keep only keys that still work and end within this time, in seconds.',
      example: 2_592_000,
    }),
  },
  examples: { page: { summary: 'A page', value: [OPERATOR_KEY] } },
  async handle({ parameters }, { keys, clock, environment, quotas }: OperatorRepositories) {
    const { state, unusedFor, expiresWithin, limit, cursor } = parameters;
    const times = { unusedFor: toMilliseconds(unusedFor), expiresWithin: toMilliseconds(expiresWithin) };
    const query = { accountId: parameters.accountId, before: readCursorNumber(cursor), limit: limit + 1 };
    const found =
      state === 'banned'
        ? await listBanned({ keys, environment, quotas }, { ...query, filter: times })
        : await keys.page(environment, { ...query, filter: { ...times, state } });
    const bans = new Map((await quotas.findBans(found)).map((ban) => [ban.keyId, ban.until]));
    const now = clock().unix;
    return describePage(found, limit, (key) => describeForOperator(key, now, bans.get(key.id)));
  },
});

/** A page of the keys with a ban in force, the newest first. */
async function listBanned(
  { keys, environment, quotas }: Pick<OperatorRepositories, 'keys' | 'environment' | 'quotas'>,
  { before = Number.POSITIVE_INFINITY, limit, ...query }: KeyPageQuery,
): Promise<readonly KeyRecord[]> {
  const bans = await quotas.listBans({ accountId: query.accountId });
  const banned = bans.map((ban) => ban.keyId).filter((id) => id < before);
  const found: KeyRecord[] = [];
  while (banned.length > 0 && found.length < limit) {
    const ids = banned.splice(-KEYS_READ);
    found.push(...(await keys.page(environment, { ...query, ids, limit: limit - found.length })));
  }
  return found;
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
  body: {
    description: 'The key.',
    examples: { leaked: { summary: 'A whole key', value: { key: 'petstore_live_…' } } },
  },
  answer: { description: 'The key.', examples: { found: { summary: 'A key', value: OPERATOR_KEY } } },
  errors: { not_found: 'This database has no such key.' },
  async handle({ body }, { keys, clock }: OperatorRepositories) {
    const key = ApiKey.parse(body.key);
    const record = key && (await keys.findByHash(key.hash()));
    return record === undefined
      ? { error: 'not_found' }
      : { value: describeForOperator(record, clock().unix) };
  },
});

const addKey = create(OperatorNewKey, IssuedOperatorKey, {
  id: 'createKey',
  path: '/accounts/{accountId}/keys',
  role: 'admin',
  summary: 'Create a key',
  description: 'Creates a key of this environment. The answer is the only place that shows it.',
  parameters: { accountId },
  body: {
    description: 'Settings of the key.',
    examples: {
      labelled: { summary: 'With a label', value: { label: 'price board', scopes: ['pets:read'] } },
    },
  },
  answer: {
    description: 'The key was created.',
    examples: { created: { summary: 'The key, once', value: ISSUED_TO_OPERATOR } },
  },
  errors: { not_found: NO_ACCOUNT },
  async handle({ body, parameters, actor }, repositories: OperatorRepositories) {
    const { accounts, keys, clock, environment } = repositories;
    const account = await accounts.get(parameters.accountId);
    if (account === undefined) return { error: 'not_found' };
    if (body.expiresAt !== undefined && body.expiresAt <= clock().unix)
      throw new ServiceError('invalid_request', 'expiresAt must lie in the future.');
    const key = ApiKey.generate(environment, randomBytes);
    const created = await keys.create(actor, { ...body, key, accountId: account.id });
    return issued(created, key, clock, describeForOperator);
  },
});

const replaceKey = create(OperatorRotation, IssuedOperatorKey, {
  id: 'rotateKey',
  path: '/keys/{keyId}/rotate',
  role: 'admin',
  summary: 'Rotate a key',
  description:
    'Creates a key with the same settings. The old key works for `grace` more seconds, but never past its own expiry.',
  parameters: { keyId: keyNumber },
  body: {
    description: 'How long the old key works.',
    examples: { day: { summary: 'One day', value: { grace: 86_400 } } },
  },
  answer: {
    description: 'The new key was created.',
    examples: { created: { summary: 'The key, once', value: ISSUED_TO_OPERATOR } },
  },
  errors: { not_found: NO_SUCH_KEY, conflict: 'This key is rotated already, expired or revoked.' },
  async handle({ body, parameters, actor }, { keys, clock }: OperatorRepositories) {
    const old = await keys.find(parameters.keyId);
    if ('error' in old) return old;
    const { id, environment } = old.value;
    const key = ApiKey.generate(environment, randomBytes);
    const rotated = await keys.rotate(actor, { id, key, grace: body.grace * 1_000 });
    return issued(rotated, key, clock, describeForOperator);
  },
});

const endKey = remove({
  id: 'revokeKey',
  path: '/keys/{keyId}',
  role: 'admin',
  summary: 'Revoke a key',
  description: 'Ends a key for good, within 5 seconds on every instance.',
  parameters: { keyId: keyNumber },
  answer: 'The key is revoked, or was revoked before.',
  errors: { not_found: NO_SUCH_KEY },
  async handle({ parameters, actor }, { keys }: OperatorRepositories) {
    return keys.revoke(actor, parameters.keyId);
  },
});

export const OPERATOR_KEYS: OperatorResource<OperatorRepositories> = {
  name: 'Keys',
  description: 'API keys: find, create, rotate, revoke.',
  operations: [listAllKeys, addKey, findKey, replaceKey, endKey],
};
