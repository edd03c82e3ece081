// Contract: section 10.1.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { assertError } from '../support/api.ts';
import { asBrowser, consoleOf, cookieOf, inventedSecret, startTestConsole } from '../support/console.ts';
import { startSharedService, startTestInstances } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';
import { test } from '../support/test.ts';
import { operatorsContract } from './operators-contract.ts';
import { requestsContract } from './requests-contract.ts';

requestsContract('PostgreSQL and Redis', startSharedService);
operatorsContract('PostgreSQL and Redis', startSharedService);

test('a session of one instance works on the others, and ends on all at once', async (t) => {
  const { services } = await startTestInstances(t, 3, { CONSOLE_PORT: '0' });
  const instances = services.map((service) => consoleOf(service));
  const [first, second, third] = instances;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const statuses = async (cookie: string) =>
    Promise.all(instances.map(async (its) => (await its.ask('/admin/v1/me', asBrowser(cookie))).status));

  // A link that three instances are asked for at once signs in once.
  const link = await first.makeLink('ada');
  const answers = await Promise.all(instances.map((its) => its.signIn(link)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 401, 401]);
  const won = answers.find(({ status }) => status === 204);
  const cookie = won === undefined ? '' : cookieOf(won);
  assert.deepEqual(await statuses(cookie), [200, 200, 200]);
  await second.ask('/sign-out', asBrowser(cookie, { method: 'POST' }));
  assert.deepEqual(await statuses(cookie), [401, 401, 401]);

  // A removal on one instance ends sessions and tokens everywhere.
  const session = await third.session('bob', 'admin');
  const token = await third.makeToken('bob');
  const admin = await first.session('ada');
  const bob = (await first.ask('/admin/v1/operators', asBrowser(admin))).json.find(
    ({ name }: { name: string }) => name === 'bob',
  );
  const gone = await first.ask(`/admin/v1/operators/${bob.id}`, asBrowser(admin, { method: 'DELETE' }));
  assert.equal(gone.status, 204);
  assert.deepEqual(await statuses(session), [401, 401, 401]);
  for (const its of instances) assertError(await its.ask('/admin/v1/me', { key: token }), 'unauthorized');

  // Six failed sessions, three failed tokens and two failed links count on all instances. Nine more are left.
  for (let tries = 0; tries < 9; tries++) {
    const its = instances[tries % 3] ?? first;
    assertError(await its.signIn(inventedSecret('link')), 'unauthorized');
  }
  for (const its of instances) assertError(await its.signIn(inventedSecret('link')), 'rate_limit_exceeded');
  assert.deepEqual(await statuses(admin), [200, 200, 200]);
});

test('without its database, the console answers 503, and recovers without a restart', async (t) => {
  const server = await startPostgres(['fsync=off']);
  const redis = await startRedis();
  const its = await startTestConsole(t, { databaseUrl: server.url, env: { REDIS_URL: redis.url } });
  t.after(() => Promise.all([server.stop(), redis.stop()]));
  const cookie = await its.session('ada');
  const overview = () => its.ask('/admin/v1/overview', asBrowser(cookie));
  assert.equal((await overview()).status, 200);
  await server.kill();
  const answer = await overview();
  assertError(answer, 'unavailable');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
  const line = its.log.find(({ msg, status }) => msg === 'console request' && status === 503);
  assert.match(String(line?.['reason']), /connect|terminat|ECONN/i);
  assert.equal(line?.['level'], 40, 'a warning, so that no level of the log hides it');
  await server.restart();
  while ((await overview()).status !== 200) await wait(20);
  assert.equal((await overview()).json.health.database.isUp, true);
});
