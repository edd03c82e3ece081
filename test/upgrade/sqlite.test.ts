import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary.ts';
import before from './1.0.0/sqlite.json' with { type: 'json' };
import { type Before, upgradeContract } from './upgrade-contract.ts';

const DATABASE = fileURLToPath(new URL('1.0.0/sqlite.db', import.meta.url));

upgradeContract('SQLite', before as Before, async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  copyFileSync(DATABASE, file);
  return `sqlite:${file}`;
});
