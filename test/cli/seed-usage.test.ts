// Contract: sections 6.9 and 8.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATIONS } from '../../src/resources/operations.ts';
import type { KeyRecord } from '../../src/domain/account.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { type UsageCount } from '../../src/domain/usage.ts';
import { inventUsage } from '../../src/cli/invented-usage.ts';
import { run, runJson, temporaryEnvironment } from '../support/process.ts';

const NOW = Date.parse('2026-11-23T17:20:00Z');

const KEY: KeyRecord = {
  id: 7,
  account: {
    id: 1,
    name: 'shop',
    plan: 'pro',
    limits: { perMinute: 300, perDay: 10_000 },
    suspendedAt: undefined,
  },
  environment: 'production',
  label: undefined,
  scopes: ['pets:read', 'pets:write', 'store:read', 'store:write'],
  createdAt: NOW,
  expiresAt: undefined,
  revokedAt: undefined,
  lastUsedAt: undefined,
  ending: undefined,
  rotatedTo: undefined,
};

function total(counts: readonly UsageCount[]): number {
  return counts.reduce((sum, { counts: its }) => sum + its.reduce((a, b) => a + b, 0), 0);
}

test('invented usage has days and nights, weekends, refusals and errors', () => {
  const counts = inventUsage(KEY, 7, NOW);
  assert.deepEqual(inventUsage(KEY, 7, NOW), counts);
  const sum = counts.reduce(
    (all, { counts: its }) => all.map((count, index) => count + Number(its[index])),
    [0, 0, 0, 0],
  );
  assert.ok(
    sum.every((count) => count > 0),
    String(sum),
  );
  const among = (hours: readonly number[]) => total(counts.filter(({ hour }) => hours.includes(hour % 24)));
  assert.ok(among([13, 14, 15]) > 3 * among([1, 2, 3]));
  const weekday = ({ hour }: UsageCount) => new Date(hour * HOUR).getUTCDay();
  assert.ok(
    total(counts.filter((count) => weekday(count) === 3)) >
      total(counts.filter((count) => weekday(count) === 0)),
  );
  const names = new Set(counts.map(({ operation }) => operation));
  assert.ok([...names].every((name) => name === 'other' || OPERATIONS.some(({ id }) => id === name)));
  const hours = counts.map(({ hour }) => hour);
  assert.equal(Math.min(...hours), Math.floor(NOW / DAY - 30) * 24);
  assert.equal(Math.max(...hours), Math.floor(NOW / HOUR));
  const reader = inventUsage({ ...KEY, scopes: ['store:read'] }, 7, NOW);
  assert.deepEqual(new Set(reader.map(({ operation }) => operation)), new Set(['other']));
});

test('seed --usage invents a month for each key, and adds nothing the second time', async (t) => {
  const variables = temporaryEnvironment(t);
  const refused = {
    code: 1,
    stdout: '',
    stderr:
      'petstore: No key of production is without usage before today: make one with petstore keys create.\n',
  };
  assert.deepEqual(await run(['seed', '--usage'], variables), refused);
  const newKey = ['keys', 'create', '--plan', 'pro', '--account'];
  await runJson([...newKey, 'shop'], variables);
  const { code, stdout } = await run(['seed', '--usage', '--random-seed', '7'], variables);
  assert.equal(code, 0);
  const [, requests] =
    /^invented 30 days of usage: (\d+) requests of 1 key \(--random-seed 7 gives the same again\)\n$/.exec(
      stdout,
    ) ?? [];
  const usage = () =>
    runJson<readonly Record<string, number>[]>(['usage', '--by', 'key', '--since', '40d'], variables);
  const requestsOf = (row: Record<string, number> | undefined) =>
    ['ok', 'clientError', 'refused', 'serverError'].reduce((sum, name) => sum + Number(row?.[name]), 0);
  const before = await usage();
  assert.equal(requestsOf(before[0]), Number(requests));
  assert.deepEqual(await run(['seed', '--usage'], variables), refused);
  assert.deepEqual(await usage(), before);

  await runJson([...newKey, 'other'], variables);
  const more = await runJson<{ usage: { keys: number } }>(
    ['seed', '10', '--usage', '--random-seed', '7'],
    variables,
  );
  assert.equal(more.usage.keys, 1);
  assert.deepEqual(
    (await usage()).find(({ keyId }) => keyId === 1),
    before[0],
  );
  assert.equal((await runJson<readonly unknown[]>(['export'], variables)).length, 10);
});

test('seed --usage sets the last use of a key to the last day with requests', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['keys', 'create', '--plan', 'pro', '--account', 'shop'], variables);
  await run(['seed', '--usage', '--random-seed', '7'], variables);
  const [key] = await runJson<readonly { lastUsedAt: string }[]>(['keys', 'list'], variables);
  const days = await runJson<readonly { day: string }[]>(
    ['usage', '--by', 'day', '--since', '2d'],
    variables,
  );
  assert.equal(key?.lastUsedAt.slice(0, 10), days.at(-1)?.day);
});

test('seed without a number of animals and without --usage is refused', async (t) => {
  assert.deepEqual(await run(['seed'], temporaryEnvironment(t)), {
    code: 2,
    stdout: '',
    stderr: 'petstore: seed needs a number of animals, or --usage.\n',
  });
});
