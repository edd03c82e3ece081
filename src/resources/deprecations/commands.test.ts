// Contract: sections 6.9, 8 and 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, steadyClock, HOUR } from '../../domain/clock.ts';

import { run, runJson, temporaryEnvironment } from '../../../test/support/process.ts';
import { openStore } from '../../../test/support/store.ts';

test('deprecations lists the keys that called one in the last 30 days', async (t) => {
  const variables = temporaryEnvironment(t);
  const newKey = ['keys', 'create', '--plan', 'free', '--account'];
  await runJson([...newKey, 'shop', '--label', 'price board'], variables);
  await runJson([...newKey, 'other'], variables);
  assert.deepEqual(await runJson(['deprecations'], variables), []);
  const store = openStore(
    variables['DATABASE_URL'] ?? '',
    steadyClock(Date.now, () => performance.now()),
  );
  const hour = Math.floor(Date.now() / HOUR);
  const count = (keyId: number, ago: number, operation = 'getPet') => ({
    hour: hour - ago,
    keyId,
    operation,
    counts: [5, 1, 0, 0] as const,
  });
  const days = (number: number) => (number * DAY) / HOUR;
  const counts = [
    count(1, days(29)),
    count(1, days(3)),
    count(1, 0, 'listPets'),
    count(2, days(32)),
    count(2, days(7)),
  ];
  await store.usageHistory.add({ writer: 'test', sequence: 1, counts });
  await store.close();
  const use = { operation: 'getPet', removal: '2030-12-05T00:00:00.000Z', successor: '/pets' };
  const ago = (its: number) => new Date((hour - days(its)) * HOUR).toISOString();
  assert.deepEqual(await runJson(['deprecations'], variables), [
    { ...use, account: 'shop', keyId: 1, label: 'price board', requests: 12, lastHour: ago(3) },
    { ...use, account: 'other', keyId: 2, label: null, requests: 6, lastHour: ago(7) },
  ]);
  const { stdout } = await run(['deprecations'], variables);
  assert.match(stdout, /^OPERATION +REMOVED ON .*\ngetPet +2030-12-05 +\/pets +shop +1 +price board +12 +2/);
});
