// Contract: section 6.
import type { Account } from '../domain/account.ts';
import type { Abortable } from '../domain/page.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Limits } from '../domain/plan.ts';
import type { Ban, BanRecord } from './ban.ts';
import type { Counts, Quota } from './quota.ts';

/** Whose windows a request is counted in. Only a `key` can be banned. */
export type Caller =
  /** A key, in the windows of its account's plan. */
  | { readonly kind: 'key'; readonly keyId: number; readonly accountId: number; readonly limits: Limits }
  /** The holder of an account, with any of its keys, in the windows for operations on the account itself. */
  | { readonly kind: 'holder'; readonly accountId: number; readonly limits: Limits }
  /** A client address without a valid key: an IPv4 address or an IPv6 /64. */
  | { readonly kind: 'address'; readonly address: string; readonly limits: Limits };

/** The windows of a caller, or those of an account's plan whatever its keys. */
export type Windows =
  | Caller
  | { readonly kind: 'account'; readonly accountId: number; readonly limits: Limits };

export type Decision =
  | { readonly kind: 'admitted'; readonly quota: Quota }
  /** `refusalsLeft`: how many more refusals until a ban, once half of them are used up. */
  | { readonly kind: 'refused'; readonly quota: Quota; readonly refusalsLeft: number | undefined }
  | { readonly kind: 'banned'; readonly quota: Quota; readonly ban: Ban };

/** Counts the requests of a process that serves. */
export interface RateLimiter {
  /**
   * Checks the ban and both windows and counts the request, in one atomic step. An admitted request takes one from each
   * window, a refused one takes nothing.
   */
  charge(caller: Caller): Decision | Promise<Decision>;
  /** Both windows. Takes nothing. */
  peek(windows: Windows): Promise<Quota>;
  /**
   * Writes the changes that are due. Call it every second. Rejects as the store does. The deletion of what is old ends once
   * `signal` aborts, and a later flush goes on.
   */
  flush(signal?: AbortSignal): Promise<void>;
  /** Writes everything, so that the next process continues from exactly the same counts. Call it before the process ends. */
  flushAll(): Promise<void>;
  /** Writes everything, and reads it again when it is needed, because another process may have counted meanwhile. */
  reload(): Promise<void>;
  /** How many banned keys this process knows of. */
  bansInForce(): number;
  /** Whether the limiter that all instances share answers. Undefined when there is none. */
  readonly sharedIsUp: boolean | undefined;
  close(): void;
}

/** What the limiter of a process reports. */
export interface LimiterEvents {
  /** A ban begins. Only the instance whose request began it calls this, once. */
  readonly onBan: (keyId: number, ban: Ban) => void;
  /** Redis has answered a heartbeat after this time, perhaps too late to be of use. */
  readonly onHeartbeat: (seconds: number) => void;
}

export interface KeyBan extends Ban {
  readonly keyId: number;
}

/** The error for an operator while nobody can read the limits. The cause goes to the log. */
export function limitsUnavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'The counters cannot be read now; try again later.', { cause });
}

/** A key that can be banned. */
export interface BannableKey {
  readonly id: number;
  readonly account: Pick<Account, 'id'>;
}

export interface BanQuery extends Abortable {
  readonly accountId?: number | undefined;
  /** Only keys with a larger id. */
  readonly after?: number | bigint | undefined;
  readonly limit?: number | undefined;
}

/**
 * The limits as an operator sees and changes them. Every method rejects with `unavailable` when nobody can read them now.
 * With more than 10,000 keys in Redis, `listBans` and `countBans` may lack the bans of the last seconds, because only a
 * scan of all keys finds them; what `listBans` returns is in force.
 */
export interface RateLimitAdmin {
  /** Bans in force, by the numbers of their keys. */
  listBans(query?: BanQuery): Promise<readonly KeyBan[]>;
  countBans(): Promise<number>;
  /** The bans in force of these keys, in the order of the keys: one statement, or one call for 500 keys. */
  findBans(keys: readonly BannableKey[]): Promise<readonly KeyBan[]>;
  /**
   * Ends the ban of a key in Redis and forgets its earlier ones. Undefined when the key is not banned. Bans in the database
   * have no such method: there, the repository of bans lifts them in the commit of their entry in the audit log.
   */
  liftBan?(key: BannableKey): Promise<KeyBan | undefined>;
  /** Both windows as of at most a second ago, or ten when more than 1,000 accounts call within a second. Takes nothing. */
  peek(windows: Windows): Promise<Quota>;
}

/** The limiter of a process that serves, and the operator's view of it. `limiter.close` closes both. */
export interface OpenLimiter {
  readonly limiter: RateLimiter;
  readonly quotas: RateLimitAdmin;
}

/**
 * What a limiter in memory stores. It holds instants as Unix milliseconds, because the monotonic clock of a process ends
 * with the process. Every method rejects with ServiceError `unavailable` when the store cannot answer now.
 */
export interface LimiterStore {
  /** The counts of a caller, by `callerName`. */
  readCounts(caller: string): Promise<Counts | undefined>;
  /** All records, by key id, except for those whose ban was lifted. */
  readBanRecords(): Promise<ReadonlyMap<number, BanRecord>>;
  /** Writes all counts or none, by `callerName`. */
  writeCounts(counts: ReadonlyMap<string, Counts>): Promise<void>;
  /** Writes all records or none, by key id. A ban that an operator has lifted stays lifted. */
  writeBanRecords(records: ReadonlyMap<number, BanRecord>): Promise<void>;
  /** The keys whose ban an operator has lifted, until `dropLifted`. */
  readLifted(): Promise<readonly number[]>;
  /** Deletes the records of these keys if their ban was lifted. */
  dropLifted(keyIds: readonly number[]): Promise<void>;
  /** Deletes counts of days before `day`, and records that ended before `endedBefore` (Unix milliseconds), until `signal` aborts. */
  prune(day: number, endedBefore: number, signal?: AbortSignal): Promise<void>;
}

/** Stores nothing: counts of an outage of Redis end with the process. */
export const NO_STORE: LimiterStore = {
  readCounts: async () => undefined,
  readBanRecords: async () => new Map(),
  writeCounts: async () => undefined,
  writeBanRecords: async () => undefined,
  readLifted: async () => [],
  dropLifted: async () => undefined,
  prune: async () => undefined,
};

/** The name that windows are stored under. All keys of an account share those of its plan. */
export function callerName(windows: Windows): string {
  if (windows.kind === 'address') return `address ${windows.address}`;
  return windows.kind === 'holder' ? `holder ${windows.accountId}` : planName(windows.accountId);
}

/** The name that the windows of an account's plan are stored under. */
export function planName(accountId: number): string {
  return `account ${accountId}`;
}
