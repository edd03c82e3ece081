// Contract: sections 3.14 and 10.2.
import { z } from 'zod';
import { dateTime, givenDateTime, int64, list, ScopeName } from '../../domain/fields.ts';
import { LABEL } from '../../domain/account.ts';
import { KEY_STATES } from '../../domain/states.ts';
import { SCOPES } from '../../domain/scope.ts';
import { ApiKey } from '../../domain/api-key.ts';
import { instantFromText } from '../../domain/instant.ts';
import { GRACE } from './rules.ts';

/* As clients see and change keys. */

export const KeyState = z.enum(KEY_STATES).meta({
  id: 'KeyState',
  description:
    'State of a key. A key works while it is `active`, and while it is `rotated`: another key has replaced it, and it ends soon.',
  examples: ['active'],
});

const LABEL_ISSUE = 'must be a string of 1 to 100 characters without control characters and API keys';

const label = z
  .string({ error: LABEL_ISSUE })
  .refine((value) => LABEL.test(value), { error: LABEL_ISSUE })
  .meta({
    minLength: 1,
    maxLength: 100,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description: 'A note to recognize the key by.',
    examples: ['web'],
  });
const SCOPES_ISSUE = `must be an array of 1 to ${SCOPES.length} scopes`;

const scopes = list(ScopeName, { least: 1, most: SCOPES.length, error: SCOPES_ISSUE });

const GRACE_ISSUE = `must be an integer from 0 to ${GRACE.maximum}`;

/** The body of `createKey`. Other fields are ignored. */
export const NewKey = z
  .object({
    label: label
      .meta({ ...label.meta(), description: 'A note to recognize the key by. It must not hold an API key.' })
      .exactOptional(),
    scopes: scopes
      .meta({
        description:
          'What the key may do, at most what the calling key may do. By default what the calling key may do, except `pets:manage`, `keys:manage` and `webhooks:manage`.',
      })
      .exactOptional(),
    expiresAt: givenDateTime
      .meta({ description: 'When the key ends. By default it does not.' })
      .transform((value) => instantFromText(value))
      .exactOptional(),
  })
  .meta({
    id: 'NewKey',
    description: 'A key to create.',
    examples: [
      { label: 'web', scopes: ['pets:read'] },
      { label: 'web', scopes: ['pets:read'], expiresAt: '2027-12-01T00:00:00Z' },
    ],
  });

/** The body of `rotateKey`. Other fields are ignored. */
export const Rotation = z
  .object({
    grace: z
      .bigint({ error: GRACE_ISSUE })
      .refine((value) => value >= 0 && value <= GRACE.maximum, { error: GRACE_ISSUE })
      .meta({
        type: 'integer',
        format: 'int32',
        minimum: 0,
        maximum: GRACE.maximum,
        default: GRACE.default,
        description:
          'Seconds that the old key still works. With 0 it ends at once. It never works past its own expiry.',
        examples: [GRACE.default],
      })
      .transform(Number)
      .exactOptional(),
  })
  .meta({ id: 'Rotation', description: 'How a key is rotated.', examples: [{ grace: GRACE.default }] });

export const EXAMPLE_KEY = {
  id: 7,
  label: 'web',
  environment: 'production',
  scopes: ['pets:read'],
  state: 'active',
  createdAt: '2026-12-01T12:00:00.000Z',
  ending: 'x7Qf',
};
export const ROTATED_KEY = {
  ...EXAMPLE_KEY,
  id: 6,
  state: 'rotated',
  expiresAt: '2026-12-02T12:00:00.000Z',
  lastUsedAt: '2026-12-01T12:30:00.000Z',
  ending: 'Bb0k',
};
const OF_ACCOUNT = { accountId: 1, account: 'shop' };
/** Not a key of the service: its checksum is wrong. */
const TEXT = `petstore_live_${'0'.repeat(34)}x7Qf`;

export const Key = z
  .object({
    id: int64.meta({ description: 'Unique identifier assigned by the service.', examples: [7] }),
    label: label.exactOptional(),
    // No list of values: the reference of a service names only the environments that it knows (docs/design/reference.md).
    environment: z.string().meta({
      description: 'The environment that the key belongs to: that of the service.',
      maxLength: 20,
      pattern: '^[a-z]+$',
      examples: ['production'],
    }),
    scopes: scopes.meta({ description: 'What the key may do.' }),
    state: KeyState,
    createdAt: dateTime.meta({ description: 'When the key was created.' }),
    expiresAt: dateTime.meta({ description: 'When the key ends, or ended.' }).exactOptional(),
    lastUsedAt: dateTime
      .meta({ description: 'When the key was last used, up to a minute late.' })
      .exactOptional(),
    ending: z
      .string()
      .max(4)
      .regex(/^[0-9A-Za-z]{4}$/)
      .meta({ description: 'The last four characters of the key, to find it by.', examples: ['x7Qf'] })
      .exactOptional(),
  })
  .meta({
    id: 'Key',
    description: 'A key of an account, without the key itself.',
    examples: [EXAMPLE_KEY, ROTATED_KEY],
  });

export const IssuedKey = Key.extend({
  key: z
    .string()
    .regex(/^petstore_(?:live|test)_[0-9A-Za-z]{38}$/)
    .meta({ maxLength: 52, description: 'The key itself. It is shown only in this answer: store it now.' }),
}).meta({
  id: 'IssuedKey',
  description: 'A key that was just created.',
  examples: [{ ...EXAMPLE_KEY, key: TEXT }],
});

/* As operators see and change keys. */

export const OperatorKey = Key.extend({
  accountId: z.int(),
  account: z.string(),
  rotatedTo: z.int().optional(),
  bannedUntil: dateTime.optional(),
}).meta({
  id: 'Key',
  description: 'An API key, without the key itself.',
  examples: [{ ...EXAMPLE_KEY, ...OF_ACCOUNT }],
});

export const IssuedOperatorKey = OperatorKey.extend(IssuedKey.pick({ key: true }).shape).meta({
  id: 'IssuedKey',
  description: 'A key that was just created.',
  examples: [{ ...EXAMPLE_KEY, ...OF_ACCOUNT, key: TEXT }],
});

export const FindKey = z
  .object({
    key: z
      .string({ error: 'must be a string' })
      .refine((text) => ApiKey.parse(text) !== undefined, { error: 'must be a whole API key' }),
  })
  .meta({ id: 'FindKey', description: 'A whole API key.', examples: [{ key: 'petstore_live_…' }] });

export const OperatorNewKey = NewKey.extend({
  scopes: scopes
    .meta({
      description:
        'What the key may do. By default everything except `pets:manage`, `keys:manage` and `webhooks:manage`.',
    })
    .exactOptional(),
}).meta({
  id: 'NewKey',
  description: 'Settings of a key.',
  examples: [{ label: 'web', scopes: ['pets:read'] }],
});
