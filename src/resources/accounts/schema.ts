// Contract: sections 3.13 and 10.2.
import { z } from 'zod';
import { count, dateTime, int64, oneOf, ScopeName, wholeNumber } from '../../domain/fields.ts';
import { DEFAULT_SCOPES, SCOPES } from '../../domain/scope.ts';
import { LIMIT_MAX, PLAN_NAMES } from '../../domain/plan.ts';
import { NOTE_MAX } from './rules.ts';

const LIMITS = { perMinute: 60, perDay: 1_000 };
const MINUTE = { limit: 60, remaining: 59, reset: 1_796_130_029 };
const DAY = { limit: 1_000, remaining: 940, reset: 1_796_169_600 };
const BAN = { keyId: 8, until: '2026-12-01T13:05:00.000Z', count: 1 };

export const AccountLimits = z
  .object({
    perMinute: count('Requests per minute.', 1, 60),
    perDay: count('Requests per UTC day.', 1, 1_000),
  })
  .meta({
    id: 'AccountLimits',
    description: 'The requests that an account may make.',
    examples: [LIMITS],
  });

export const AccountWindow = z
  .object({
    limit: count('Requests that the window has.', 1, 60),
    remaining: count('Requests that remain.', 0, 59),
    reset: int64.meta({
      minimum: 0,
      description: 'When the window ends: a Unix timestamp in seconds, rounded up.',
      examples: [1_796_130_029],
    }),
  })
  .meta({
    id: 'AccountWindow',
    description: 'A window of the limits, as it is now.',
    examples: [MINUTE],
  });

const AccountBan = z
  .object({
    keyId: int64.meta({ description: 'Identifier of the key.', examples: [7] }),
    until: dateTime.meta({ description: 'When the ban ends.' }),
    count: count('How many bans the key had in a row, this one included.', 1, 1),
  })
  .meta({ id: 'KeyBan', description: 'A ban in force.', examples: [BAN] });

/** Of an account with more live keys than this, some bans can be missing. */
export const MOST_BANS = 1_000;

export const OwnAccount = z
  .object({
    name: z
      .string()
      .min(1)
      .max(100)
      .regex(/\S/)
      .meta({ description: 'The name of the account.', examples: ['shop'] }),
    plan: z.enum(PLAN_NAMES).meta({ description: 'The plan of the account.' }),
    limits: AccountLimits,
    scopes: z.array(ScopeName).max(SCOPES.length).meta({ description: 'What the calling key may do.' }),
    minute: AccountWindow,
    day: AccountWindow,
    bans: z
      .array(AccountBan)
      .max(MOST_BANS)
      .meta({ description: 'The bans in force of keys of this environment.' }),
  })
  .meta({
    id: 'OwnAccount',
    description: 'An account as its keys see it.',
    examples: [
      {
        name: 'shop',
        plan: 'free',
        limits: LIMITS,
        scopes: DEFAULT_SCOPES,
        minute: MINUTE,
        day: DAY,
        bans: [BAN],
      },
    ],
  });

/* As operators see and change accounts. */

const limitOfWindow = wholeNumber(1, LIMIT_MAX);

const name = z.string({ error: 'must be a string' });
const plan = oneOf(PLAN_NAMES);
const note = z.string({ error: 'must be a string' }).meta({
  maxLength: NOTE_MAX,
  description: 'What operators note about the account. An empty text removes it.',
});
const suspended = z.boolean({ error: 'must be true or false' });
const limits = { perMinute: limitOfWindow.exactOptional(), perDay: limitOfWindow.exactOptional() };

const ACCOUNT = {
  id: 1,
  name: 'shop',
  plan: 'pro',
  limits: { perMinute: 300, perDay: 10_000 },
  note: 'Ask for Ada, ada@example.com.',
  createdAt: '2026-11-01T09:00:00.000Z',
  lastUsedAt: '2026-11-23T14:05:00.000Z',
};

export const Account = z
  .object({
    id: z.int(),
    name: z.string(),
    plan: z.enum(PLAN_NAMES),
    limits: z.object({ perMinute: z.int(), perDay: z.int() }),
    note: z.string().optional(),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso
      .datetime()
      .meta({ description: 'When one of its keys was last used, up to a minute late.' })
      .optional(),
    suspendedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Account', description: 'An account.', examples: [ACCOUNT] });

const WindowJson = z.object({ limit: z.int(), remaining: z.int(), reset: z.int() });

export const AccountDetails = Account.extend({
  minute: WindowJson,
  day: WindowJson,
  bans: z.array(
    z.object({
      keyId: z.int(),
      label: z.string().optional(),
      until: z.iso.datetime(),
      count: z.int(),
    }),
  ),
}).meta({
  id: 'AccountDetails',
  description: 'An account, its windows and the bans of its keys.',
  examples: [
    {
      ...ACCOUNT,
      minute: { limit: 300, remaining: 299, reset: 1_795_398_057 },
      day: { limit: 10_000, remaining: 9_999, reset: 1_795_478_400 },
      bans: [],
    },
  ],
});

export const NewAccount = z
  .object({ name, plan: plan.default('free'), ...limits, note: note.exactOptional() })
  .meta({
    id: 'NewAccount',
    description: 'An account to add. Plan `enterprise` needs limits.',
    examples: [{ name: 'shop', plan: 'pro' }],
  });

const Values = z.object({
  name: name.exactOptional(),
  plan: plan.exactOptional(),
  ...limits,
  note: note.exactOptional(),
  suspended: suspended.exactOptional(),
});

export const AccountPatch = Values.extend({ expected: Values.exactOptional() }).meta({
  id: 'AccountPatch',
  description:
    'A change of an account. With `expected`, the answer is 409 when the account has other values.',
  examples: [{ plan: 'pro', expected: { plan: 'free' } }],
});

export const LimitUse = z
  .object({
    day: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d$/)
      .meta({ maxLength: 10, description: 'The UTC day.', examples: ['2027-01-15'] }),
    limit: int64.meta({ minimum: 1, description: 'Requests that the plan allows a day.', examples: [1000] }),
    used: int64.meta({ minimum: 1, description: 'Requests that were counted.', examples: [800] }),
  })
  .meta({
    id: 'LimitUse',
    description: 'How much of the limit of a day is used.',
    examples: [{ day: '2027-01-15', limit: 1_000, used: 800 }],
  });
