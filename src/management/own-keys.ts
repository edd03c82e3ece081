// Contract: section 3.14.
import { DEFAULT_SCOPES, type KeyRecord, SCOPES } from '../domain/account.ts';
import { ApiKey, type RandomBytes } from '../domain/api-key.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { instantFromText } from '../domain/instant.ts';
import { scopeFault } from '../domain/key-rules.ts';
import { GRACE, type NewKey, type Rotation } from '../domain/key.ts';
import type { OwnKeys } from '../domain/account-ports.ts';
import type { Idempotency, Outcome, Refusal } from '../domain/ports.ts';
import { storedOf } from './keys.ts';

/** The outcome of a request for a key, and the key if it was created. Nothing that is stored holds the key. */
export interface Issue<Code extends ErrorCode> {
  readonly outcome: Outcome<201, Code>;
  readonly key: ApiKey;
}

interface Asked {
  readonly caller: KeyRecord;
  readonly random: RandomBytes;
  /** Unix milliseconds. */
  readonly now: number;
  readonly idempotency: Idempotency | undefined;
}

/** Issues a key for the account and the environment of the calling key, with at most its scopes. */
export async function issueOwnKey(
  keys: OwnKeys,
  { label, scopes = [...DEFAULT_SCOPES], expiresAt: end }: NewKey,
  { caller, random, now, idempotency }: Asked,
): Promise<Issue<'conflict' | 'insufficient_scope' | 'invalid_request'>> {
  const key = ApiKey.generate(caller.environment, random);
  const expiresAt = end === undefined ? undefined : instantFromText(end);
  if (expiresAt !== undefined && expiresAt <= now) return { key, outcome: refused('invalid_request') };
  const message = scopeFault(scopes, caller.scopes);
  if (message !== undefined) return { key, outcome: refused('insufficient_scope', message) };
  const granted = SCOPES.filter((scope) => scopes.includes(scope));
  const outcome = await keys.create({ ...storedOf(key), label, scopes: granted, expiresAt }, idempotency);
  return { key, outcome };
}

/** Issues a key that replaces key `id`, which works for `grace` more seconds. */
export async function rotateOwnKey(
  keys: OwnKeys,
  id: bigint,
  { grace = BigInt(GRACE.default) }: Rotation,
  { caller, random, idempotency }: Omit<Asked, 'now'>,
): Promise<Issue<'conflict' | 'not_found' | 'insufficient_scope'>> {
  const key = ApiKey.generate(caller.environment, random);
  const rotation = { ...storedOf(key), id, grace: Number(grace) * 1_000, scopes: caller.scopes };
  return { key, outcome: await keys.rotate(rotation, idempotency) };
}

function refused<Code extends Refusal['refused']>(code: Code, message?: string) {
  return { outcome: 'refused', refused: code, ...(message !== undefined && { message }) } as const;
}
