// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';
import type { UsageHistory } from '../domain/usage.ts';
import type { Engine } from './engine.ts';
import { usageOfAccount } from './usage-of-account.ts';
import { UsageRows } from './usage-rows.ts';
import { usageSums } from './usage-sums.ts';

/** The queries of the usage of an environment. */
export function usageReads(
  engine: Engine,
  environment: Environment,
): Pick<UsageHistory, 'ofAccount' | 'sums'> {
  const rows = new UsageRows(engine, environment);
  return { ofAccount: usageOfAccount(rows), sums: usageSums(rows) };
}
