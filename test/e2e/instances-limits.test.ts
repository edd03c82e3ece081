// Contract: sections 5 and 6.
import assert from 'node:assert/strict';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { startTestInstances } from '../support/instances.ts';
import { runJson } from '../support/process.ts';
import { test } from '../support/test.ts';

const BAN_AFTER = 6;

test('quota, bans and their lifting are the same on every instance', async (t) => {
  const { variables, services } = await startTestInstances(t, 3, { BAN_AFTER: `${BAN_AFTER}` });
  const limits = ['--plan', 'enterprise', '--per-minute', '7', '--per-day', '100'];
  const { id, key } = await runJson<{ id: number; key: string }>(
    ['keys', 'create', '--account', 'chain', ...limits],
    variables,
  );
  const everywhere = () => Promise.all(services.map(({ url }) => call(url, '/v1/pets', { key })));
  let sent = 0;
  const next = () => {
    const service = services[sent++ % services.length];
    assert.ok(service);
    return call(service.url, '/v1/pets', { key });
  };

  for (let remaining = 6; remaining >= 0; remaining--) {
    const answer = await next();
    assert.equal(answer.status, 200);
    assertRateHeaders(answer);
    assert.equal(answer.headers.get('x-ratelimit-remaining'), `${remaining}`);
  }
  for (let refusal = 1; refusal < BAN_AFTER; refusal++) assertError(await next(), 'rate_limit_exceeded');
  assertError(await next(), 'key_banned');
  for (const answer of await everywhere()) {
    assertError(answer, 'key_banned');
    assert.equal(answer.headers.get('x-ratelimit-remaining'), '0');
  }

  type Listed = { keyId: number; account: string; count: number }[];
  const listed = await runJson<Listed>(['bans', 'list'], variables);
  assert.deepEqual(
    listed.map(({ keyId, account, count }) => ({ keyId, account, count })),
    [{ keyId: id, account: 'chain', count: 1 }],
  );
  assert.deepEqual(await runJson(['bans', 'lift', `${id}`], variables), { keyId: id, lifted: true });
  for (const answer of await everywhere()) assertError(answer, 'rate_limit_exceeded');
  const [used] = await runJson<{ day: { remaining: number } }[]>(['usage', '--account', 'chain'], variables);
  assert.equal(used?.day.remaining, 93, 'what was refused took nothing from the day');
});
