// Contract: section 13. How instances share the work: docs/design/webhooks.md.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Environment } from '../../domain/api-key.ts';
import { chunksOf } from '../../domain/chunks.ts';
import { SECOND } from '../../domain/clock.ts';
import type { Engine } from '../../storage/engine.ts';
import { raw, sql } from '../../storage/sql.ts';
import { createParser, instant, integer, optional, text } from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import {
  type DeliveryRow,
  disableWebhook,
  openEvent,
  pruneDeliveries,
  type WebhookRow,
} from './repository.ts';
import { DELIVERIES, OPEN_EVENTS, WEBHOOKS } from './table.ts';

/** Milliseconds that an endpoint belongs to an instance after its last renewal. */
export const LEASE = 20 * SECOND;

/**
 * An instance takes a third of the free endpoints at once, and at least so many: instances that start together share them, and those
 * of a killed one are taken within some looks, however many they are.
 */
const LEAST_TAKEN = 5;

const IS_SERVED = sql`account_id NOT IN (SELECT id FROM accounts WHERE suspended_at IS NOT NULL)`;

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
  for (const event of opened) await openEvent(transaction, { webhookId, ...event });
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

/** Endpoints that one statement reads: few enough that it takes milliseconds. */
const LISTED_AT_ONCE = 1_000;

/** What may change of an endpoint whenever somebody else writes. Its generation stands for the rest. */
export type ActiveEndpoint = Pick<WebhookRow, 'id' | 'generation' | 'sender' | 'leasedUntil'>;

const ACTIVE_COLUMNS = 'id, generation, sender, leased_until';

const parseActive = createParser({
  id: integer,
  generation: integer,
  sender: optional(text),
  leasedUntil: optional(instant),
});

/** What is read of many endpoints. */
async function inChunks<T>(
  webhookIds: readonly number[],
  read: (ids: readonly number[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (const ids of chunksOf(webhookIds, LISTED_AT_ONCE)) {
    found.push(...(await read(ids)));
    if (ids.length === LISTED_AT_ONCE) await letOthersRun();
  }
  return found;
}

/** The open events of an endpoint. */
interface OpenCount {
  readonly webhookId: number;
  readonly count: number;
  /** Unix milliseconds: when the first is due. */
  readonly dueAt: number;
}

const parseOpenCount = createParser({ webhookId: integer, count: integer, dueAt: instant });

export type SendingRepository = ReturnType<typeof open>;

export function open(engine: Engine, { environment }: { readonly environment: Environment }) {
  return {
    /** Every endpoint that gets events, whoever sends to it: what a look compares. Requests run between pages of them. */
    async listActive(): Promise<readonly ActiveEndpoint[]> {
      const active: ActiveEndpoint[] = [];
      for (;;) {
        const rows = await engine.query(sql`SELECT ${raw(ACTIVE_COLUMNS)} FROM webhooks
          WHERE id > ${active.at(-1)?.id ?? 0} AND environment = ${environment} AND disabled_reason IS NULL
            AND ${IS_SERVED}
          ORDER BY id LIMIT ${raw(String(LISTED_AT_ONCE))}`);
        active.push(...rows.map(parseActive));
        if (rows.length < LISTED_AT_ONCE) return active;
        await letOthersRun();
      }
    },
    /** Those of these webhooks that there are, and whose accounts are not suspended. Requests run between pages of them. */
    findServed: (webhookIds: readonly number[]): Promise<readonly WebhookRow[]> =>
      inChunks(webhookIds, (ids) =>
        engine.select(WEBHOOKS, sql`WHERE ${engine.dialect.isAnyOf('id', ids)} AND ${IS_SERVED}`),
      ),
    /** Takes free endpoints for an instance and renews its leases. Call it before `LEASE` has passed. */
    lease: (instance: string): Promise<void> => engine.write(leaseWebhooks, instance, environment),
    /** Frees the endpoints of an instance that stops. */
    release: (instance: string): Promise<void> => engine.write(releaseWebhooks, instance),
    /** Endpoints without open events are left out. Requests run between pages of them. */
    countOpen: (webhookIds: readonly number[]): Promise<readonly OpenCount[]> =>
      inChunks(webhookIds, async (ids) => {
        const rows = await engine.query(sql`SELECT webhook_id, count(*), min(due_at) FROM open_events
          WHERE ${engine.dialect.isAnyOf('webhook_id', ids)} GROUP BY webhook_id`);
        return rows.map(parseOpenCount);
      }),
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
