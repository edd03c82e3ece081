// Contract: section 13. How instances share the work: docs/design/webhooks.md.
import type { Environment } from '../../domain/api-key.ts';
import { SECOND } from '../../domain/clock.ts';
import type { Engine } from '../../storage/engine.ts';
import { sql } from '../../storage/sql.ts';
import { createParser, instant, integer } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { type DeliveryRow, disableWebhook, pruneDeliveries, type WebhookRow } from './repository.ts';
import { DELIVERIES, OPEN_EVENTS, WEBHOOKS } from './table.ts';

/** Milliseconds that an endpoint belongs to an instance after its last renewal. */
export const LEASE = 20 * SECOND;

/**
 * An instance takes a third of the free endpoints at once, and at least so many: instances that start together share them, and those
 * of a killed one are taken within some looks, however many they are.
 */
const LEAST_TAKEN = 5;

/** Takes free endpoints, and renews the leases of those that the instance has. */
async function leaseWebhooks(
  transaction: Transaction,
  instance: string,
  environment: Environment,
): Promise<void> {
  const now = Math.floor(await transaction.now());
  const { dialect } = transaction;
  const isActive = sql`environment = ${environment} AND disabled_reason IS NULL`;
  // In the order of `settleAttempts`, so that the two do not wait for each other's rows in a circle.
  const leased = await transaction.query<readonly [id: bigint]>(sql`
    SELECT id FROM webhooks WHERE sender = ${instance} AND leased_until > ${now} AND ${isActive}
      ORDER BY id ${dialect.forUpdate()}`);
  const isFree = sql`${isActive} AND (leased_until IS NULL OR leased_until <= ${now})`;
  const [row] = await transaction.query<readonly [count: bigint]>(
    sql`SELECT count(*) FROM webhooks WHERE ${isFree}`,
  );
  const most = Math.max(LEAST_TAKEN, Math.ceil(Number(row?.[0]) / 3));
  const free = await transaction.query<readonly [id: bigint]>(sql`
    SELECT id FROM webhooks WHERE ${isFree} ORDER BY id LIMIT ${most} ${dialect.forUpdateOfUnlocked(WEBHOOKS)}`);
  const ids = [...leased, ...free].map(([id]) => id);
  await transaction.query(sql`UPDATE webhooks SET sender = ${instance}, leased_until = ${now + LEASE}
    WHERE ${dialect.isAnyOf('id', ids)}`);
}

async function releaseWebhooks(transaction: Transaction, instance: string): Promise<void> {
  await transaction.query(
    sql`UPDATE webhooks SET sender = NULL, leased_until = NULL WHERE sender = ${instance}`,
  );
}

/** What became of attempts of one endpoint. */
export interface Settlement {
  readonly webhookId: number;
  /** Those that the sender knew. If they have changed, only attempts and open events are written. */
  readonly instance: string;
  readonly generation: number;
  /** Up to here every event was delivered or is open. If it is undefined, only attempts and open events are written. */
  readonly place: bigint | undefined;
  readonly deliveries: readonly Omit<DeliveryRow, 'id'>[];
  /** Events that wait for another attempt, with the attempts that were made. */
  readonly open: readonly { readonly eventId: bigint; readonly attempts: number; readonly dueAt: number }[];
  /** Open events that were delivered, or have failed for good. */
  readonly closed: readonly bigint[];
  readonly failingSince: number | undefined;
  readonly disable: 'gone' | 'failing' | undefined;
  /** Whether to delete the oldest attempts beyond those that stay listed. */
  readonly prunes: boolean;
}

async function settleAttempts(transaction: Transaction, settlements: readonly Settlement[]): Promise<void> {
  // In one order, so that instances do not wait for each other's rows in a circle.
  for (const settlement of settlements.toSorted((one, other) => one.webhookId - other.webhookId))
    await settle(transaction, settlement);
}

async function settle(transaction: Transaction, settlement: Settlement): Promise<void> {
  const {
    webhookId,
    instance,
    generation,
    place,
    deliveries,
    open: opened,
    closed,
    failingSince,
    disable,
    prunes,
  } = settlement;
  const [webhook] = await transaction.select(
    WEBHOOKS,
    sql`WHERE id = ${webhookId} ${transaction.dialect.forUpdate()}`,
  );
  // It was deleted meanwhile.
  if (webhook === undefined) return;
  if (deliveries.length > 0) await transaction.add(DELIVERIES, deliveries);
  for (const { eventId, attempts, dueAt } of opened)
    await transaction.query(sql`${OPEN_EVENTS.insert({ webhookId, eventId, attempts, dueAt })}
      ON CONFLICT (webhook_id, event_id) DO UPDATE SET attempts = excluded.attempts, due_at = excluded.due_at`);
  if (closed.length > 0)
    await transaction.query(sql`DELETE FROM open_events
      WHERE webhook_id = ${webhookId} AND ${transaction.dialect.isAnyOf('event_id', closed)}`);
  if (prunes) await pruneDeliveries(transaction, webhookId);
  if (place === undefined || webhook.generation !== generation || webhook.sender !== instance) return;
  const changes = { place, failingSince };
  await transaction.query(sql`UPDATE webhooks SET ${WEBHOOKS.set(changes)} WHERE id = ${webhookId}`);
  if (disable !== undefined && webhook.disabledReason === undefined)
    await disableWebhook(transaction, { ...webhook, ...changes } as WebhookRow, disable);
}

export const WRITES = { lease: leaseWebhooks, release: releaseWebhooks, settle: settleAttempts };

/** The open events of an endpoint. */
export interface OpenCount {
  readonly webhookId: number;
  readonly count: number;
  /** Unix milliseconds: when the first is due. */
  readonly dueAt: number;
}

const parseOpenCount = createParser({ webhookId: integer, count: integer, dueAt: instant });

export type SendingRepository = ReturnType<typeof open>;

export function open(engine: Engine, { environment }: { readonly environment: Environment }) {
  return {
    /** Every endpoint that gets events, whoever sends to it. */
    listActive: (): Promise<readonly WebhookRow[]> =>
      engine.select(
        WEBHOOKS,
        sql`WHERE environment = ${environment} AND disabled_reason IS NULL
          AND account_id NOT IN (SELECT id FROM accounts WHERE suspended_at IS NOT NULL) ORDER BY id`,
      ),
    /** Those of these webhooks that there are. */
    find: (webhookIds: readonly number[]): Promise<readonly WebhookRow[]> =>
      engine.select(WEBHOOKS, sql`WHERE ${engine.dialect.isAnyOf('id', webhookIds)}`),
    /** Takes free endpoints for an instance and renews its leases. Call it before `LEASE` has passed. */
    lease: (instance: string): Promise<void> => engine.write(leaseWebhooks, instance, environment),
    /** Frees the endpoints of an instance that stops. */
    release: (instance: string): Promise<void> => engine.write(releaseWebhooks, instance),
    async countOpen(webhookIds: readonly number[]): Promise<readonly OpenCount[]> {
      const rows = await engine.read(sql`SELECT webhook_id, count(*), min(due_at) FROM open_events
        WHERE ${engine.dialect.isAnyOf('webhook_id', webhookIds)} GROUP BY webhook_id`);
      return rows.map(parseOpenCount);
    },
    /** Open events of an endpoint that are due at `now` (Unix milliseconds), the longest due first. */
    listDue: (webhookId: number, now: number, limit: number) =>
      engine.select(
        OPEN_EVENTS,
        sql`WHERE webhook_id = ${webhookId} AND due_at <= ${now} ORDER BY due_at, id LIMIT ${limit}`,
      ),
    settle: (settlements: readonly Settlement[]): Promise<void> => engine.write(settleAttempts, settlements),
    now: async (): Promise<number> => Math.floor(await engine.now()),
  };
}
