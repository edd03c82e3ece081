import { DEFAULT_DATABASE_URL } from '../../src/storage/database-url.ts';
import type { Store } from '../../src/storage/store.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { type Clock, DAY } from '../../src/domain/clock.ts';

/** The store of a `sqlite:` address, for production. */
export function openStore(databaseUrl: string, clock: Clock): Store {
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  const onLost = () => undefined;
  const options = { clock, environment: 'production', createFolder, orderHold: 3 * DAY, onLost } as const;
  return openSqlite(databaseUrl.slice('sqlite:'.length), options);
}
