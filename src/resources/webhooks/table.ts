// Contract: section 13.
import type { Scope } from '../../domain/scope.ts';
import { ENVIRONMENTS } from '../../domain/api-key.ts';
import {
  enumeration,
  instant,
  int64,
  integer,
  json,
  optional,
  Table,
  text,
  textList,
} from '../../storage/table.ts';
import type { TypeFilter } from '../events/rules.ts';
import { areFormerChoices } from './rules.ts';

/** Why an endpoint gets nothing. `request`: somebody disabled it. `copied`: the database is a copy of another one. */
export const DISABLED_REASONS = ['request', 'gone', 'failing', 'copied'] as const;

export const DELIVERY_STATUSES = ['succeeded', 'failed'] as const;

/** Endpoints. The secrets leave this folder only as signatures, and once as the answer that made them. */
export const WEBHOOKS = new Table(
  'webhooks',
  {
    id: integer,
    accountId: integer,
    environment: enumeration(ENVIRONMENTS),
    url: text,
    types: textList<TypeFilter>(),
    /** Those of the key that last chose the URL or the types: they say which events the endpoint may get. */
    scopes: textList<Scope>(),
    /** Those before, the oldest first, as long as events that they chose may wait. */
    formerChoices: json('a list of former choices', areFormerChoices),
    description: optional(text),
    /** Absent while it is enabled. */
    disabledReason: optional(enumeration(DISABLED_REASONS)),
    secret: text,
    /** Signs too, until a day after the rotation. */
    oldSecret: optional(text),
    rotatedAt: optional(instant),
    /** When its place was last moved by a replay. */
    replayedAt: optional(instant),
    createdAt: instant,
    /** The key. */
    createdBy: integer,
    /** The key that last changed the URL. Absent: nobody has. */
    pointedBy: optional(integer),
    /** Every event of the feed up to here was delivered, is open, or was missed. */
    place: int64,
    missed: integer,
    failingSince: optional(instant),
    /** Rises with every change that its sender must know: of url, types, secrets, state and place. */
    generation: integer,
    /** The instance that sends to it until `leasedUntil`. */
    sender: optional(text),
    leasedUntil: optional(instant),
  },
  { key: ['id'], assignsIds: true },
);

/** Events that an endpoint has not taken, and that its place has passed: they wait for their next attempt. */
export const OPEN_EVENTS = new Table(
  'open_events',
  { id: integer, webhookId: integer, eventId: int64, attempts: integer, dueAt: instant },
  { key: ['id'], assignsIds: true },
);

/** An attempt each. */
export const DELIVERIES = new Table(
  'deliveries',
  {
    id: integer,
    webhookId: integer,
    /** The place of the event; 0 for a test, which is in no feed. */
    eventId: int64,
    eventKey: text,
    type: text,
    attempt: integer,
    at: instant,
    /** The time that was signed. Absent: nothing was sent, or by a version before this one. */
    sentAt: optional(instant),
    status: enumeration(DELIVERY_STATUSES),
    httpStatus: optional(integer),
    failure: optional(text),
    durationMs: integer,
  },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [WEBHOOKS, OPEN_EVENTS, DELIVERIES];
