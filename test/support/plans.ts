import type { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';

/** A step of a plan of PostgreSQL. */
export interface PlanStep {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Filter?: string;
}

interface Plan extends PlanStep {
  readonly Plans?: readonly Plan[];
}

const listSteps = ({ Plans = [], ...step }: Plan): PlanStep[] => [step, ...Plans.flatMap(listSteps)];

/** Runs a prepared SELECT in PostgreSQL, and returns all steps of its plan, outermost first. */
export async function explainPostgres(
  client: Client,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
): Promise<readonly PlanStep[]> {
  await client.query(`PREPARE explained AS ${text}`);
  const literals = values.map((value) =>
    value === null ? 'NULL' : client.escapeLiteral(`${value as string | number | bigint}`),
  );
  const list = literals.length === 0 ? '' : `(${literals.join(', ')})`;
  const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained${list}`);
  await client.query('DEALLOCATE explained');
  return listSteps(rows[0]['QUERY PLAN'][0].Plan as Plan);
}

/** The steps of a statement in SQLite: `SEARCH pets USING …`. */
export function explainSqlite(db: DatabaseSync, statement: string): readonly string[] {
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all();
  return plan.map(({ detail }) => String(detail));
}
