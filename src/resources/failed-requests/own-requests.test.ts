// Contract: section 3.13.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { call } from '../../../test/support/api.ts';
import { startTestService } from '../../../test/support/service.ts';
import { DAY, MINUTE } from '../../domain/clock.ts';

interface Row {
  readonly requestId: string;
}

async function start(t: TestContext) {
  const service = await startTestService(t);
  const key = await service.issueKey({ account: 'shop', limits: { perMinute: 200, perDay: 1_000 } });
  const fail = (requestId: string, sent = key) =>
    call(service.url, '/v1/pets?limit=0', { key: sent, headers: { 'x-request-id': requestId } });
  const list = async (query = '', sent = key) =>
    (await call(service.url, `/v1/account/requests${query}`, { key: sent })).json as readonly Row[];
  return { service, key, fail, list };
}

test('a holder sees why requests of its account failed, and none of another account', async (t) => {
  const { service, key, fail, list } = await start(t);
  const other = await service.issueKey({ account: 'other' });
  await call(service.url, '/v1/pets', { key });
  await fail('mine');
  await fail('theirs', other);
  const timestamp = new Date(service.clock().unix).toISOString();
  assert.deepEqual(await list(), [
    {
      requestId: 'mine',
      timestamp,
      method: 'GET',
      path: '/v1/pets',
      status: 400,
      code: 'invalid_parameter',
      message: 'The parameter limit must be an integer from 1 to 100.',
      keyId: 1,
    },
  ]);
  assert.deepEqual(
    (await list('', other)).map(({ requestId }) => requestId),
    ['theirs'],
  );
});

test('the list has the last 100 failed requests of 24 hours, in pages', async (t) => {
  const { service, key, fail, list } = await start(t);
  for (let index = 0; index < 102; index++) await fail(`${index}`);
  const all = await list('?limit=100');
  assert.deepEqual([all.length, all[0]?.requestId, all[99]?.requestId], [100, '101', '2']);
  let pages = 0;
  let count = 0;
  for (let path: string | undefined = '/account/requests?limit=60'; path !== undefined; pages++) {
    const { json, headers } = await call(service.url, `/v1${path}`, { key });
    count += json.length;
    path = /\/v1(.*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual([pages, count], [2, 100]);
  service.clock.advance(DAY - MINUTE);
  await fail('late');
  service.clock.advance(2 * MINUTE);
  assert.deepEqual(
    (await list()).map(({ requestId }) => requestId),
    ['late'],
  );
});
