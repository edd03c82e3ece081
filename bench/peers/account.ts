import { hash } from 'node:crypto';

/** The account that a request counts for. */
export interface Account {
  readonly id: number | bigint;
  readonly perMinute: number;
}

/** A row of either database. An integer is a number or a bigint. */
export interface KeyRow {
  readonly account: number | bigint;
  readonly plan: string;
  readonly perMinute: number | bigint | null;
  readonly environment: string;
  readonly expiresAt: number | bigint | null;
  readonly revokedAt: number | bigint | null;
}

const PER_MINUTE: Readonly<Record<string, number>> = { free: 60, pro: 300, business: 1_000 };

/** Ends before its condition on the `hash` of `k`. */
export const SELECT_KEYS = `
  SELECT a.id AS account, a.plan, a.per_minute AS "perMinute", k.environment, k.expires_at AS "expiresAt",
    k.revoked_at AS "revokedAt"
  FROM keys k JOIN accounts a ON a.id = k.account_id`;

export function keyHash(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The account of a key that is valid now, or undefined. */
export function accountOf(row: KeyRow | undefined): Account | undefined {
  if (row === undefined || row.environment !== 'production') return undefined;
  const ends = [row.expiresAt, row.revokedAt];
  if (ends.some((end) => end !== null && end <= Date.now())) return undefined;
  return { id: row.account, perMinute: Number(row.perMinute ?? PER_MINUTE[row.plan]) };
}
