import type { Author } from '../../src/domain/audit.ts';
import { DEFAULT_DATABASE_URL } from '../../src/storage/database-url.ts';
import type { Store } from '../../src/storage/store.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { type Clock, DAY } from '../../src/domain/clock.ts';

/** Makes the changes of tests. */
export const ROOT: Author = { actor: { kind: 'system', name: 'root' } };

/** The store of a `sqlite:` address, for production. */
export function openStore(databaseUrl: string, clock: Clock): Store {
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  const onLost = () => undefined;
  const options = {
    clock,
    environment: 'production',
    createFolder,
    orderHold: 3 * DAY,
    author: ROOT,
    onLost,
  } as const;
  return openSqlite(databaseUrl.slice('sqlite:'.length), options);
}
