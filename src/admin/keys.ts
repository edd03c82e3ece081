// Contract: section 10.2.
import { randomBytes } from 'node:crypto';
import type { KeyRecord } from '../domain/account.ts';
import { ApiKey, type Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { type AccountRepository, type KeyPageQuery, LISTED_STATES } from '../domain/account-ports.ts';
import type { RateLimitAdmin } from '../limits/counter.ts';
import { existingKey, issueKey, rotateKey } from '../management/keys.ts';
import {
  FindKey,
  IssuedKey,
  issuedJson,
  KEY,
  keyJson,
  KeyJson,
  Keys,
  NewKey,
  Rotation,
} from './key-values.ts';
import { act, create, list, remove, type OperatorResource } from '../http/operation.ts';
import { choice, cursorNumber, pageOf, rowFilter, rowId, seconds } from './values.ts';

interface Stores {
  readonly accounts: AccountRepository;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly quotas: Pick<RateLimitAdmin, 'listBans' | 'bansOf'>;
}

/** Keys that one statement names. */
const KEYS_READ = 500;

const accountId = rowId('Number of the account.');
const keyId = rowId('Number of the key.');
const NO_ACCOUNT = 'There is no account with this number.';
const NO_KEY = 'There is no key with this number.';

const listedState = choice(LISTED_STATES, {
  description: 'Keep only keys in this state.',
  example: 'active',
});

const listKeys = list(Keys, 'keys', {
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
  examples: { page: { summary: 'A page', value: [KEY] } },
  async handle({ parameters }, { accounts, clock, environment, quotas }: Stores) {
    const { accountId: account, state, unusedFor, expiresWithin, limit: most, cursor: end } = parameters;
    const times = { unusedFor: millisecondsOf(unusedFor), expiresWithin: millisecondsOf(expiresWithin) };
    const query = { accountId: account, before: cursorNumber(end), limit: most + 1 };
    const found =
      state === 'banned'
        ? await bannedKeys({ accounts, environment, quotas }, { ...query, filter: times })
        : await accounts.pageOfKeys(environment, { ...query, filter: { ...times, state } });
    const bans = new Map((await quotas.bansOf(found)).map((ban) => [ban.keyId, ban.until]));
    const now = clock().unix;
    return pageOf(found, most, (key) => keyJson(key, now, bans.get(key.id)));
  },
});

/** A page of the keys with a ban in force, the newest first. */
async function bannedKeys(
  { accounts, environment, quotas }: Pick<Stores, 'accounts' | 'environment' | 'quotas'>,
  { before = Number.POSITIVE_INFINITY, limit: most, ...query }: KeyPageQuery,
): Promise<readonly KeyRecord[]> {
  const bans = await quotas.listBans({ accountId: query.accountId });
  const banned = bans.map(({ keyId: id }) => id).filter((id) => id < before);
  const found: KeyRecord[] = [];
  while (banned.length > 0 && found.length < most) {
    const ids = banned.splice(-KEYS_READ);
    found.push(...(await accounts.pageOfKeys(environment, { ...query, ids, limit: most - found.length })));
  }
  return found;
}

function millisecondsOf(its: number | undefined): number | undefined {
  return its === undefined ? undefined : its * 1_000;
}

const findKey = act(KeyJson, {
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
  answer: { description: 'The key.', examples: { found: { summary: 'A key', value: KEY } } },
  errors: { not_found: 'This database has no such key.' },
  async handle({ body }, { accounts, clock }: Stores) {
    const key = ApiKey.parse(body.key);
    if (key === undefined) throw new ServiceError('invalid_request', 'key must be a whole API key.');
    const record = await accounts.findKeyByHash(key.hash());
    if (record === undefined) return { error: 'not_found' };
    return { value: keyJson(record, clock().unix) };
  },
});

const createKey = create(NewKey, IssuedKey, {
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
    examples: { created: { summary: 'The key, once', value: { ...KEY, key: 'petstore_live_…' } } },
  },
  errors: { not_found: NO_ACCOUNT },
  async handle({ body, parameters, actor }, { accounts, clock, environment }: Stores) {
    const account = await accounts.getAccount(parameters.accountId);
    if (account === undefined) return { error: 'not_found' };
    const { label, scopes, expiresAt } = body;
    const now = clock().unix;
    if (expiresAt !== undefined && expiresAt <= now)
      throw new ServiceError('invalid_request', 'expiresAt must lie in the future.');
    const settings = { account, environment, label, scopes, expiresAt };
    const issued = await issueKey(accounts.by(actor), randomBytes, settings);
    return { value: issuedJson(issued, now) };
  },
});

const rotate = create(Rotation, IssuedKey, {
  id: 'rotateKey',
  path: '/keys/{keyId}/rotate',
  role: 'admin',
  summary: 'Rotate a key',
  description:
    'Creates a key with the same settings. The old key works for `grace` more seconds, but never past its own expiry.',
  parameters: { keyId },
  body: {
    description: 'How long the old key works.',
    examples: { day: { summary: 'One day', value: { grace: 86_400 } } },
  },
  answer: {
    description: 'The new key was created.',
    examples: { created: { summary: 'The key, once', value: { ...KEY, key: 'petstore_live_…' } } },
  },
  errors: { not_found: NO_KEY, conflict: 'This key is rotated already, expired or revoked.' },
  async handle({ body, parameters, actor }, { accounts, clock }: Stores) {
    const { keyId: id } = parameters;
    const issued = await rotateKey(accounts.by(actor), randomBytes, id, body.grace * 1_000);
    return { value: issuedJson(issued, clock().unix) };
  },
});

const revoke = remove({
  id: 'revokeKey',
  path: '/keys/{keyId}',
  role: 'admin',
  summary: 'Revoke a key',
  description: 'Ends a key for good, within 5 seconds on every instance.',
  parameters: { keyId },
  answer: 'The key is revoked, or was revoked before.',
  errors: { not_found: NO_KEY },
  async handle({ parameters, actor }, { accounts }: Stores) {
    const { id } = await existingKey(accounts, parameters.keyId);
    await accounts.by(actor).revokeKey(id);
    return { value: undefined };
  },
});

export const KEYS: OperatorResource<Stores> = {
  name: 'Keys',
  description: 'API keys: find, create, rotate, revoke.',
  operations: [listKeys, createKey, findKey, rotate, revoke],
};
