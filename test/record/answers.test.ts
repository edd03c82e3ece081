// The answers of the API and of the admin API, byte by byte, as they were recorded.
import { test } from '../support/test.ts';
import { POSTGRES_AND_REDIS, SQLITE } from './support/backends.ts';
import { compareRecord } from './support/fixture.ts';
import { hideCounterTimes } from './support/normal.ts';
import { play, playStopping } from './support/play.ts';
import { SCENARIOS } from './scenarios/index.ts';
import { STOPPING } from './scenarios/outage.ts';

const VARIANT = { name: 'postgres', mask: hideCounterTimes };

// SQLite comes first, because the fixtures of the other back end hold only what differs.
for (const scenario of SCENARIOS)
  test(`SQLite: the answers about ${scenario.name} are as recorded`, async (t) => {
    compareRecord(scenario.name, await play(t, SQLITE, scenario));
  });

test('SQLite: the answers while the service stops are as recorded', async (t) => {
  compareRecord('stopping', await playStopping(t, SQLITE, STOPPING));
});

for (const scenario of SCENARIOS)
  test(`PostgreSQL and Redis: the answers about ${scenario.name} are as recorded`, async (t) => {
    compareRecord(scenario.name, await play(t, POSTGRES_AND_REDIS, scenario), VARIANT);
  });

test('PostgreSQL and Redis: the answers while the service stops are as recorded', async (t) => {
  compareRecord('stopping', await playStopping(t, POSTGRES_AND_REDIS, STOPPING), VARIANT);
});
