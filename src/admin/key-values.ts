// Contract: section 10.2.
import { z } from 'zod';
import { DEFAULT_SCOPES, KEY_STATES, type KeyRecord, keyState, LABEL, SCOPES } from '../domain/account.ts';
import { ENVIRONMENTS } from '../domain/api-key.ts';
import { GRACE } from '../domain/key.ts';
import type { IssuedKey as Issued } from '../management/keys.ts';
import { instantOfBody, iso, whole } from './values.ts';

const KeyState = z.enum(KEY_STATES).meta({ id: 'KeyState', description: 'The state of a key.' });

const instant = z.iso.datetime();

export const KeyJson = z
  .object({
    id: z.int(),
    accountId: z.int(),
    account: z.string(),
    label: z.string().optional(),
    environment: z.enum(ENVIRONMENTS),
    scopes: z.array(z.enum(SCOPES)),
    state: KeyState,
    createdAt: instant,
    expiresAt: instant.optional(),
    lastUsedAt: instant.optional(),
    ending: z.string().optional(),
    rotatedTo: z.int().optional(),
    bannedUntil: instant.optional(),
  })
  .meta({ id: 'Key', description: 'An API key, without the key itself.' });

export const Keys = z.array(KeyJson).meta({ id: 'Keys', description: 'Keys, the newest first.' });

export const IssuedKey = KeyJson.extend({ key: z.string() }).meta({
  id: 'IssuedKey',
  description: 'A key that was just created, with the key itself.',
});

export const FindKey = z
  .object({ key: z.string({ error: 'must be a string' }) })
  .meta({ id: 'FindKey', description: 'A whole API key.' });

const LABEL_FAULT = 'must have 1 to 100 characters, no control characters and no API key';

export const NewKey = z
  .object({
    label: z.string({ error: LABEL_FAULT }).regex(LABEL, { error: LABEL_FAULT }).optional(),
    scopes: z
      .array(z.enum(SCOPES, { error: `must be of ${SCOPES.join(', ')}` }), {
        error: 'must be a list of scopes',
      })
      .min(1, { error: 'must name at least one scope' })
      .default([...DEFAULT_SCOPES]),
    expiresAt: instantOfBody.optional(),
  })
  .meta({ id: 'NewKey', description: 'Settings of a key.' });

export const Rotation = z
  .object({ grace: whole(0, GRACE.maximum).default(GRACE.default) })
  .meta({ id: 'Rotation', description: 'How many seconds the old key still works.' });

export const KEY = {
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

/** `now` and `bannedUntil` in Unix milliseconds. */
export function keyJson(key: KeyRecord, now: number, bannedUntil?: number) {
  const { id, account, label, environment, scopes, createdAt, expiresAt, lastUsedAt, ending, rotatedTo } =
    key;
  return {
    id,
    accountId: account.id,
    account: account.name,
    label,
    environment,
    scopes,
    state: keyState(key, now),
    createdAt: iso(createdAt),
    expiresAt: iso(expiresAt),
    lastUsedAt: iso(lastUsedAt),
    ending,
    rotatedTo,
    bannedUntil: iso(bannedUntil),
  };
}

export function issuedJson({ key, record }: Issued, now: number) {
  return { ...keyJson(record, now), key: key.reveal() };
}
