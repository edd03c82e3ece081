// Contract: section 6.9.
import type { Environment } from '../domain/api-key.ts';
import { DAY } from '../domain/clock.ts';
import { HOUR, type UsageHistory } from '../domain/usage.ts';
import type { Engine } from './engine.ts';
import { lastHourIn } from './usage-hours.ts';
import { usageOfAccount } from './usage-of-account.ts';
import { UsageRows } from './usage-rows.ts';
import { KEY_COLUMNS, type KeyColumns, keyOf, usageSums } from './usage-sums.ts';

type Caller = readonly [...KeyColumns, requests: bigint, day: bigint, hours: string | null];

/** The queries of the usage of an environment. */
export function usageReads(
  engine: Engine,
  environment: Environment,
): Pick<UsageHistory, 'ofAccount' | 'sums' | 'callersOf'> {
  const history = new UsageRows(engine, environment);
  return {
    ofAccount: usageOfAccount(history),
    sums: usageSums(history),
    async callersOf(operation, from) {
      const rows = await engine.read<Caller>(
        `SELECT ${KEY_COLUMNS}, s.requests, s.day,
           (SELECT hours FROM usage_hours u WHERE u.key_id = k.id AND u.day = s.day AND u.operation = $1)
         FROM (SELECT key_id, CAST(sum(ok + client_error + refused + server_error) AS bigint) AS requests,
           max(day) AS day FROM keys CROSS JOIN usage_days
           WHERE key_id = id AND operation = $1 AND day >= $2 AND environment = $3 GROUP BY key_id) AS s
         JOIN keys k ON k.id = s.key_id JOIN accounts a ON a.id = k.account_id
         ORDER BY s.requests DESC, k.id`,
        [operation, Math.floor(from / DAY), environment],
      );
      return rows.map(([id, label, accountId, account, requests, day, hours]) =>
        Object.assign(keyOf([id, label, accountId, account]), {
          requests: Number(requests),
          lastHour: Number(day) * DAY + lastHourIn(hours) * HOUR,
        }),
      );
    },
  };
}
