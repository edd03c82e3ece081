import { hash } from 'node:crypto';
import type pg from 'pg';

export interface Account {
  readonly id: bigint;
  readonly perMinute: number;
}

interface KeyRow {
  readonly account: bigint;
  readonly plan: string;
  readonly perMinute: bigint | null;
  readonly environment: string;
  readonly expiresAt: bigint | null;
  readonly revokedAt: bigint | null;
}

const PER_MINUTE: Readonly<Record<string, number>> = { free: 60, pro: 300, business: 1_000 };

const QUERY = `
  SELECT a.id AS account, a.plan, a.per_minute AS "perMinute", k.environment, k.expires_at AS "expiresAt",
    k.revoked_at AS "revokedAt"
  FROM keys k JOIN accounts a ON a.id = k.account_id WHERE k.hash = $1`;

/** The account of an API key that is valid now, or undefined. */
export async function findAccount(pool: pg.Pool, key: string): Promise<Account | undefined> {
  const { rows } = await pool.query<KeyRow>({
    name: 'keyByHash',
    text: QUERY,
    values: [hash('sha256', key, 'hex')],
  });
  const [row] = rows;
  if (row === undefined || row.environment !== 'production') return undefined;
  const ends = [row.expiresAt, row.revokedAt];
  if (ends.some((end) => end !== null && end <= Date.now())) return undefined;
  return { id: row.account, perMinute: Number(row.perMinute ?? PER_MINUTE[row.plan]) };
}
