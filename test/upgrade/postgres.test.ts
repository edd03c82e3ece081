import before from './1.0.0/postgres.json' with { type: 'json' };
import { RESTORE } from './restore.ts';
import { type Before, upgradeContract } from './upgrade-contract.ts';

upgradeContract('PostgreSQL', before as Before, (t) => RESTORE.PostgreSQL(t, '1.0.0', before.stoppedAt));
