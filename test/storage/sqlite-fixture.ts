import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Store } from '../../src/resources/repositories.ts';
import { openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { newDatabase } from '../support/new-database.ts';
import { temporaryFolder } from '../support/temporary.ts';
import type { Fixture, FixtureRules } from './fixture.ts';

interface SqliteFixture extends Fixture {
  readonly file: string;
  /** A connection past the service's code, closed when the test is over. */
  readonly raw: () => DatabaseSync;
}

/** A SQLite file in `folder`, or in a temporary one. */
export async function sqliteFixture(
  t: TestContext,
  { folder = temporaryFolder(t), ...rules }: FixtureRules & { readonly folder?: string } = {},
): Promise<SqliteFixture> {
  const file = join(folder, 'petstore.db');
  newDatabase(file);
  const clock = fakeClock();
  const opened = new Set<{ close(): unknown }>();
  t.after(() => Promise.all(Array.from(opened, (each) => each.close())));
  const keep = <T extends { close(): unknown }>(each: T): T => {
    opened.add(each);
    return each;
  };
  const open = () => keep(openStore(`sqlite:${file}`, clock, rules));
  let store: Store = open();
  const raw = () => keep(new DatabaseSync(file));
  return {
    file,
    clock,
    passTime: async (milliseconds) => clock.advance(milliseconds),
    noticedWithin: 0,
    get store() {
      return store;
    },
    raw,
    another: async () => open(),
    async reopen() {
      await store.close();
      opened.delete(store);
      store = open();
      return store;
    },
    async deleteOrder(id) {
      raw().prepare('DELETE FROM orders WHERE id = ?').run(id);
    },
  };
}
