// Contract: section 3.14.
import { z } from 'zod';
import { DEFAULT_SCOPES, SCOPES } from '../domain/account.ts';
import { ApiKey, type RandomBytes } from '../domain/api-key.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { instantFromText } from '../domain/instant.ts';
import { MOST_KEYS_A_DAY, MOST_LIVE_KEYS, TOO_MANY_KEYS } from '../domain/key-rules.ts';
import { GRACE, IssuedKey, Key, KeyState, NewKey, Rotation, ScopeName } from '../domain/key.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import type { Repeatable } from '../domain/result.ts';
import { storedOf } from '../management/keys.ts';
import { create, list, remove, type Resource } from '../http/operation.ts';
import { int64, LIMIT } from '../http/parameters.ts';

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

interface Stores {
  readonly accounts: Pick<AccountRepository, 'by' | 'ownKeys'>;
  readonly random: RandomBytes;
}

const Keys = z
  .array(Key)
  .max(LIMIT.maximum)
  .meta({ id: 'Keys', description: 'Keys of an account, the newest first.' });

const keyId = int64({ description: 'Identifier of the key.', example: KEY.id });

const NO_KEY = 'This account has no key with this keyId in this environment.';
const TOO_MANY = `${TOO_MANY_KEYS}: revoke one first.`;
const LIMITS = `At most ${MOST_LIVE_KEYS} keys work at a time, and an account creates at most ${MOST_KEYS_A_DAY} keys in a UTC day.`;

const ISSUED_BEFORE = {
  error: 'conflict',
  message:
    'A request with this Idempotency-Key created a key before, and the key itself is not stored: list the keys, revoke the one that it created, and create another with a key that was not rotated.',
} as const;

/** Adds the key itself. A repeated request gets no key, because nothing that is stored holds it. */
function issued<Code extends ErrorCode>(created: Repeatable<Key, Code>, key: ApiKey) {
  if ('replay' in created) return ISSUED_BEFORE;
  return 'error' in created ? created : { value: { ...created.value, key: key.reveal() } };
}

const listKeys = list(Keys, 'keys', {
  id: 'listKeys',
  path: '/account/keys',
  scope: 'keys:manage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Roll your keys',
  description:
    'Returns a page of the keys of this account and environment, the newest first, without the keys themselves.',
  examples: { rotated: { summary: 'A key, and the one that it replaces', value: [USED, OLDER] } },
  sample: { client: 'keys.list', query: { limit: LIMIT.default } },
  async handle({ key, parameters: { limit, cursor: before } }, { accounts }: Stores) {
    const { items, next } = await accounts.ownKeys(key).list({ limit, before });
    return { json: items, next };
  },
});

const createKey = create(NewKey, IssuedKey, {
  id: 'createKey',
  path: '/account/keys',
  scope: 'keys:manage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Roll your keys',
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
    conflict: TOO_MANY,
  },
  sample: { client: 'keys.create' },
  async handle({ key: caller, actor, body, idempotency }, { accounts, random }: Stores) {
    const { label, scopes = [...DEFAULT_SCOPES], expiresAt: end } = body;
    const key = ApiKey.generate(caller.environment, random);
    const expiresAt = end === undefined ? undefined : instantFromText(end);
    const granted = SCOPES.filter((scope) => scopes.includes(scope));
    const keys = accounts.by(actor).ownKeys(caller);
    const created = { ...storedOf(key), label, scopes: granted, expiresAt };
    return issued(await keys.create(created, idempotency), key);
  },
});

const rotateKey = create(Rotation, IssuedKey, {
  id: 'rotateKey',
  path: '/account/keys/{keyId}/rotate',
  location: '/account/keys/{id}',
  scope: 'keys:manage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Roll your keys',
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
  async handle({ key: caller, actor, parameters, body, idempotency }, { accounts, random }: Stores) {
    const { grace = BigInt(GRACE.default) } = body;
    const key = ApiKey.generate(caller.environment, random);
    const keys = accounts.by(actor).ownKeys(caller);
    const rotation = { ...storedOf(key), id: parameters.keyId, grace: Number(grace) * 1_000 };
    return issued(await keys.rotate(rotation, idempotency), key);
  },
});

const revokeKey = remove({
  id: 'revokeKey',
  path: '/account/keys/{keyId}',
  scope: 'keys:manage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Roll your keys',
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
  async handle({ key, actor, parameters, ifMatch }, { accounts }: Stores) {
    return accounts.by(actor).ownKeys(key).revoke(parameters.keyId, ifMatch);
  },
});

export const KEYS_RESOURCE: Resource<Stores> = {
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
