import before from './1.0.0/sqlite.json' with { type: 'json' };
import { RESTORE } from './restore.ts';
import { type Before, upgradeContract } from './upgrade-contract.ts';

upgradeContract('SQLite', before as Before, (t) => RESTORE.SQLite(t, '1.0.0'));
