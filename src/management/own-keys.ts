// Contract: section 3.14.
import { DEFAULT_SCOPES, type KeyRecord, SCOPES } from '../domain/account.ts';
import { ApiKey, type RandomBytes } from '../domain/api-key.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { instantFromText } from '../domain/instant.ts';
import { GRACE, type NewKey, type Rotation } from '../domain/key.ts';
import type { OwnKeys } from '../domain/account-ports.ts';
import type { Idempotency, Outcome } from '../domain/ports.ts';
import { storedOf } from './keys.ts';

/** The outcome of a request for a key, and the key if it was created. Nothing that is stored holds the key. */
export interface Issue<Code extends ErrorCode> {
  readonly outcome: Outcome<201, Code>;
  readonly key: ApiKey;
}

interface Asked {
  readonly caller: KeyRecord;
  readonly random: RandomBytes;
  readonly idempotency: Idempotency | undefined;
}

/** Issues a key for the account and the environment of the calling key, with at most its scopes. */
export async function issueOwnKey(
  keys: OwnKeys,
  { label, scopes = [...DEFAULT_SCOPES], expiresAt: end }: NewKey,
  { caller, random, idempotency }: Asked,
): Promise<Issue<'conflict' | 'insufficient_scope' | 'invalid_request'>> {
  const key = ApiKey.generate(caller.environment, random);
  const expiresAt = end === undefined ? undefined : instantFromText(end);
  const granted = SCOPES.filter((scope) => scopes.includes(scope));
  const settings = { label, scopes: granted, expiresAt };
  return { key, outcome: await keys.create({ ...storedOf(key), ...settings }, idempotency) };
}

/** Issues a key that replaces key `id`, which works for `grace` more seconds. */
export async function rotateOwnKey(
  keys: OwnKeys,
  id: bigint,
  { grace = BigInt(GRACE.default) }: Rotation,
  { caller, random, idempotency }: Asked,
): Promise<Issue<'conflict' | 'not_found' | 'insufficient_scope'>> {
  const key = ApiKey.generate(caller.environment, random);
  const rotation = { ...storedOf(key), id, grace: Number(grace) * 1_000 };
  return { key, outcome: await keys.rotate(rotation, idempotency) };
}
