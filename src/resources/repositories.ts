// Contract: section 2.
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { Environment } from '../domain/api-key.ts';
import type { LimiterStore, RateLimitAdmin } from '../limits/limiter.ts';
import * as limits from '../limits/stored.ts';
import type { Copyable, Engine } from '../storage/engine.ts';
import * as idempotency from '../storage/idempotency.ts';
import type { AnyEngine } from '../storage/open.ts';
import type { AnyTable } from '../storage/table.ts';
import { Writes } from '../storage/transaction.ts';
import * as accounts from './accounts/repository.ts';
import * as categories from './categories/repository.ts';
import * as keys from './keys/repository.ts';
import * as orders from './orders/repository.ts';
import * as pets from './pets/repository.ts';
import * as audit from './audit/repository.ts';
import * as notices from './notices/repository.ts';
import * as events from './events/repository.ts';
import * as webhooks from './webhooks/repository.ts';
import * as sending from './webhooks/sending.ts';
import * as bans from './bans/repository.ts';
import * as usageHistory from './usage/repository.ts';
import * as operators from './operators/repository.ts';
import * as passkeys from './passkeys/repository.ts';
import * as names from './fold-names.ts';

/*
 * Every repository, a line each in the lists below. The writing thread of SQLite loads this file, so no repository loads a
 * package, except for the templates of statements.
 */

/** Every table that holds data. A copy fills them in this order, so no foreign key may refer to a table that comes later. */
export const TABLES: readonly AnyTable[] = [
  ...accounts.TABLES,
  ...keys.TABLES,
  ...pets.TABLES,
  ...idempotency.TABLES,
  ...audit.TABLES,
  ...events.TABLES,
  ...categories.TABLES,
  ...limits.TABLES,
  ...notices.TABLES,
  ...operators.TABLES,
  ...orders.TABLES,
  ...passkeys.TABLES,
  ...usageHistory.TABLES,
  ...webhooks.TABLES,
];

// An animal is held by its open order.
pets.HOLDS.settle = orders.settleHold;
// A category stays while an animal is of it.
categories.ANIMALS.existIn = pets.existInCategory;
// A key is revoked with the webhooks that it added.
keys.ENDPOINTS.disable = webhooks.disableOfKey;
// An endpoint that is too slow misses what is deleted.
events.PRUNING.note = webhooks.countMissed;

/** The writes. */
export const WRITES = new Writes({
  accounts: accounts.WRITES,
  audit: audit.WRITES,
  bans: bans.WRITES,
  categories: categories.WRITES,
  events: events.WRITES,
  idempotency: idempotency.WRITES,
  keys: keys.WRITES,
  limits: limits.WRITES,
  names: names.WRITES,
  notices: notices.WRITES,
  operators: operators.WRITES,
  orders: orders.WRITES,
  passkeys: passkeys.WRITES,
  pets: pets.WRITES,
  sending: sending.WRITES,
  usageHistory: usageHistory.WRITES,
  webhooks: webhooks.WRITES,
});

export interface RepositorySettings {
  readonly clock: Clock;
  readonly environment: Environment;
  /** Milliseconds that an animal is held for a new order. */
  readonly orderHold: number;
  /** Open orders that one account may have. */
  readonly maxOpenOrders: number;
}

function openRepositories(engine: AnyEngine, settings: RepositorySettings) {
  const keyRepository = keys.open(engine, settings, (keyId) => webhookRepository.tellOfKey(keyId));
  const stored = limits.open(engine, settings);
  const eventRepository = events.open(engine);
  const webhookRepository = webhooks.open(engine, eventRepository, keyRepository);
  const onAccountChange = async (id: number, { suspended }: { readonly suspended?: boolean | undefined }) => {
    keyRepository.forget();
    if (suspended !== undefined) await webhookRepository.tellOfAccount(id);
  };
  return {
    accounts: accounts.open(engine, settings, onAccountChange),
    audit: audit.open(engine),
    bans: bans.open(engine, settings),
    categories: categories.open(engine),
    events: eventRepository,
    keys: keyRepository,
    limits: stored as LimiterStore,
    notices: notices.open(engine),
    operators: operators.open(engine),
    orders: orders.open(engine, settings),
    passkeys: passkeys.open(engine),
    pets: pets.open(engine),
    quotas: stored as RateLimitAdmin,
    sending: sending.open(engine, settings),
    usageHistory: usageHistory.open(engine, settings.environment),
    webhooks: webhookRepository,
  };
}

export type Repositories = ReturnType<typeof openRepositories>;

/** Everything that `DATABASE_URL` stands for. */
export interface Store
  extends Repositories,
    Pick<Engine, 'dialect' | 'poolLoad' | 'ping' | 'backup' | 'lockForServing' | 'check' | 'close'> {
  readonly database: Copyable;
  /** Deletes expired idempotency records. Call it every second while serving. */
  dropExpired(): Promise<void>;
}

/** The store over an engine. */
export function openStoreOver(engine: AnyEngine, settings: RepositorySettings): Store {
  const { clock } = settings;
  let expiredAt = Number.NEGATIVE_INFINITY;
  return {
    ...engine,
    ...openRepositories(engine, settings),
    database: engine,
    async dropExpired() {
      if (clock().monotonic - expiredAt < MINUTE) return;
      // If there are more, the next call goes on.
      if (!(await engine.write(idempotency.dropExpired))) expiredAt = clock().monotonic;
    },
  };
}
