// Contract: section 10.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import pino from 'pino';
import { open } from './service.ts';
import { DAY, MINUTE } from '../../domain/clock.ts';
import { fakeClock } from '../../../test/support/clock.ts';
import { migratedPostgres } from '../../../test/support/migrated-postgres.ts';
import { PATIENT_POOL } from '../../../test/support/postgres.ts';
import { startTestService } from '../../../test/support/service.ts';
import { openPostgresStore, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

const OLD = 30 * DAY;

test('where the role may not delete entries, one line a day says so', async (t) => {
  const owner = await migratedPostgres(t);
  const url = new URL(owner);
  url.username = `keeper_${url.pathname.slice(1)}`;
  const execute = async (sql: string, address = owner) => {
    const client = new Client(address);
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  await execute(
    `CREATE ROLE ${url.username} LOGIN;
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${url.username};
     REVOKE UPDATE, DELETE ON audit FROM ${url.username};
     INSERT INTO audit (at, actor_kind, actor, action, target_kind, target) VALUES (0, 'key', '1', 'a', 'key', '1')`,
  );
  // Its database is gone by then, and its rights with it.
  t.after(() => execute(`DROP ROLE ${url.username}`, new URL('/postgres', owner).href));
  const clock = fakeClock();
  const store = await openPostgresStore(url.href, { clock, pool: { connections: 1, ...PATIENT_POOL } });
  t.after(() => store.close());
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const { tasks } = open({ ...store, auditKept: OLD, clock, log });
  const { signal } = new AbortController();
  for (const passed of [0, MINUTE, MINUTE, DAY, MINUTE]) {
    clock.advance(passed);
    for (const task of tasks) await task.run(signal);
  }
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /"reason":"permission denied for table audit".*AUDIT_KEEP_DAYS/);
  await execute(`GRANT DELETE ON audit TO ${url.username}`);
  for (const task of tasks) await task.run(signal);
  assert.deepEqual((await store.audit.list({ limit: 1 })).items, []);
});

test('a service deletes what keys wrote before AUDIT_KEEP_DAYS', async (t) => {
  const service = await startTestService(t, { env: { AUDIT_KEEP_DAYS: '30' } });
  const { audit } = service.store;
  const target = { kind: 'webhook', name: '1' };
  for (const actor of [ROOT, { kind: 'key', id: 1 }] as const)
    await audit.add(actor, { action: 'webhooks update', target });
  await service.passTime(31 * DAY);
  const kinds = async () => (await audit.list({ limit: 9 })).items.map(({ actor }) => actor.kind);
  // The next look comes within seconds.
  while ((await kinds()).length > 1) await pause(50);
  assert.deepEqual(await kinds(), ['system']);
});
