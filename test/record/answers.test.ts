// The answers of the API and of the admin API, byte by byte, as they were recorded.
import { test } from 'node:test';
import { POSTGRES_AND_REDIS, SQLITE } from './support/backends.ts';
import { compareRecord } from './support/fixture.ts';
import { hideCounterTimes } from './support/normal.ts';
import { play } from './support/play.ts';
import { SCENARIOS } from './scenarios/index.ts';

// SQLite comes first, because the fixtures of the other back end hold only what differs.
for (const scenario of SCENARIOS)
  test(`SQLite: the answers about ${scenario.name} are as recorded`, async (t) => {
    compareRecord(scenario.name, await play(t, SQLITE, scenario));
  });

for (const scenario of SCENARIOS)
  test(`PostgreSQL and Redis: the answers about ${scenario.name} are as recorded`, async (t) => {
    const seen = await play(t, POSTGRES_AND_REDIS, scenario);
    compareRecord(scenario.name, seen, { name: 'postgres', mask: hideCounterTimes });
  });
