import type { DatabaseSync } from 'node:sqlite';
import { ENVIRONMENTS, type Environment } from '../../domain/api-key.ts';
import type { RefusalsEntry, UsageEntry } from '../../domain/ports.ts';
import { later, MINUTE, type Usage } from '../../domain/quota.ts';
import { USAGE_COLUMNS, usageOf, type UsageRow, usageValues } from '../counter-rows.ts';
import type { TransferRow } from '../transfer.ts';
import { Query } from './rows.ts';

type JournalRow = readonly [id: bigint, usage: string, refusals: string];
type StandingsTableRow = readonly [
  refusals: string,
  bannedUntil: bigint | null,
  banCount: bigint | null,
  lifted: bigint,
];

/** What the journal of one environment says. Its methods throw `unavailable` as queries do. */
export class JournalReader {
  readonly #environment: Environment;
  readonly #additions: Query<JournalRow>;
  readonly #usageRow: Query<UsageRow>;
  readonly #standingRow: Query<StandingsTableRow>;
  readonly #usage = new Map<string, Usage>();
  readonly #refusals = new Map<number, number[]>();
  #readTo = 0n;

  constructor(db: DatabaseSync, environment: Environment) {
    this.#environment = environment;
    this.#additions = new Query(
      db,
      'SELECT id, usage, refusals FROM journal WHERE environment = ? AND id > ? ORDER BY id',
    );
    this.#usageRow = new Query(db, `SELECT ${USAGE_COLUMNS} FROM usage WHERE environment = ? AND caller = ?`);
    this.#standingRow = new Query(
      db,
      'SELECT refusals, banned_until, ban_count, lifted FROM standings WHERE key_id = ?',
    );
  }

  /** The usage of a caller as it was last written down, wherever. */
  usageOf(caller: string): Usage | undefined {
    // In this order: what has left the journal meanwhile is in the row.
    this.#read();
    return this.#latest(caller);
  }

  /** The rows of the table `usage` as they will be with what the journal says, of those callers that it names. */
  usageRows(): TransferRow[] {
    this.#read();
    return [...this.#usage].map(([caller, journaled]) => {
      const usage = this.#latest(caller) ?? journaled;
      const key: TransferRow = [this.#environment, caller];
      return key.concat(usageValues(usage).map(BigInt));
    });
  }

  /** The rows of the table `standings` likewise. */
  standingsRows(): TransferRow[] {
    this.#read();
    return [...this.#refusals].flatMap(([keyId, added]) => {
      const [refusals = '[]', until = null, count = null, lifted = 0n] =
        this.#standingRow.get(BigInt(keyId)) ?? [];
      // An order to lift forgives them.
      if (lifted === 1n) return [];
      const all = (JSON.parse(refusals) as number[]).concat(added);
      const last = all.at(-1) ?? 0;
      const counting = all.filter((instant) => last - instant < MINUTE);
      return [[BigInt(keyId), this.#environment, JSON.stringify(counting), until, count, 0n]];
    });
  }

  #latest(caller: string): Usage | undefined {
    const row = this.#usageRow.get(this.#environment, caller);
    const written = row && usageOf(row);
    const journaled = this.#usage.get(caller);
    // A row may be written after the last addition, and before additions that it makes needless are dropped.
    return written && journaled ? later(journaled, written) : (journaled ?? written);
  }

  /** Reads what was added since it read last. */
  #read(): void {
    for (const [id, usage, refusals] of this.#additions.iterate(this.#environment, this.#readTo)) {
      for (const [caller, minuteStart, minuteCount, day, dayCount] of JSON.parse(usage) as UsageEntry[]) {
        this.#usage.set(caller, { minuteStart, minuteCount, day, dayCount });
      }
      for (const [keyId, ...added] of JSON.parse(refusals) as RefusalsEntry[]) {
        const known = this.#refusals.get(keyId);
        if (added.length === 0) this.#refusals.delete(keyId);
        else if (known === undefined) this.#refusals.set(keyId, added);
        else known.push(...added);
      }
      this.#readTo = id;
    }
  }
}

/** The rows that the journals will change, as they will be, of one table and of both environments; in no order. */
export function journaledRows(db: DatabaseSync, table: string): TransferRow[] {
  const readers = ENVIRONMENTS.map((environment) => new JournalReader(db, environment));
  if (table === 'usage') return readers.flatMap((reader) => reader.usageRows());
  if (table === 'standings') return readers.flatMap((reader) => reader.standingsRows());
  return [];
}
