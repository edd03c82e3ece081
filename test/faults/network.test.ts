// What the network may do between the service and its servers (docs/guarantees.md). Contract: sections 4, 6 and 13.
import assert from 'node:assert/strict';
import { call, assertError, assertRateHeaders } from '../support/api.ts';
import { startCatalogueLoad } from '../support/catalogue-load.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { startProxiedNameServer } from '../support/name-server.ts';
import { announceProxy, findOwner, temporaryCluster, temporaryRedis } from '../support/redis.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { LOST, startSharedCounting } from '../support/shared-counting.ts';
import { until } from '../support/until.ts';
import { findAccount } from '../support/store.ts';
import { type Fault, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';

type Name = 'delay' | 'cut' | 'reset' | 'half-open' | 'one way' | 'silent';

const MOMENTS = ['idle', 'in flight'] as const;

type Moment = (typeof MOMENTS)[number];

const FAULTS: readonly Name[] = ['delay', 'cut', 'reset', 'half-open', 'one way', 'silent'];

/** A server of the service. */
interface Part {
  /** Milliseconds of a delay. */
  readonly delay: number;
  readonly start: (t: Lifetime) => Promise<{
    /** Lets a fault come and go, and looks whether the service does what it promises meanwhile and afterwards. */
    readonly run: (name: Name, fault: Fault, moment: Moment) => Promise<void>;
  }>;
}

/** Begins a fault when nothing is on its way, or when the server has got what a request says to it. */
function beginAt(proxy: TcpProxy, moment: Moment, fault: Fault, text: string): Promise<void> {
  if (moment === 'in flight') return proxy.beginAfter(text, fault);
  proxy.begin(fault);
  return Promise.resolve();
}

const PARTS: Readonly<Record<string, Part>> = {
  PostgreSQL: { delay: 50, start: startOverPostgres },
  // Longer than a request waits for it.
  Redis: { delay: 300, start: startOverRedis },
  'a server of a Redis Cluster': { delay: 300, start: startOverCluster },
  'the name server of webhooks': { delay: 50, start: startOverNameServer },
};

/** Every request is answered, with 503 at worst. Nothing is lost or done twice. */
async function startOverPostgres(t: Lifetime) {
  let service: TestService | undefined;
  // Before the database goes.
  t.after(() => service?.stop());
  const variables = { DATABASE_URL: await migratedPostgres(t) };
  const proxy = await startTcpProxy(t, variables.DATABASE_URL);
  const pool = { connectTimeout: 500, statementTimeout: 500 };
  service = await startTestService(t, { databaseUrl: proxy.url, pool });
  const { url } = service;
  const key = await service.issueKey();
  const isReady = async () => (await call(url, '/readyz')).status === 200;
  return {
    async run(name: Name, fault: Fault, moment: Moment) {
      const prefix = `${name}-${moment}`.replaceAll(' ', '-');
      const begun = beginAt(proxy, moment, fault, `${prefix}-`);
      const load = startCatalogueLoad({ url, key, variables, prefix, creators: 6, readers: 2 });
      await begun;
      await load.answered();
      if (name === 'delay') await until(() => load.created() > 0);
      else await until(() => load.refused() > 0);
      if (name !== 'delay' && name !== 'half-open') await until(async () => !(await isReady()));
      await load.answered();
      if (name !== 'half-open') proxy.end();
      const before = load.created();
      await until(async () => load.created() > before && (await isReady()));
      await load.finish();
    },
  };
}

/** Of one day. Each of two instances has half of it while Redis does not answer. */
const LIMIT = 200;

const LIMITS = { perMinute: 1_000_000, perDay: LIMIT };

/** Every request is answered, by the limits or by the shares of the instances. */
async function startCounting(
  t: Lifetime,
  proxy: TcpProxy,
  urls: readonly string[],
  isCountedThere: (account: string) => Promise<boolean>,
) {
  const { host: server } = new URL(proxy.url);
  const { services } = await startSharedCounting(t, 2, urls, { limits: LIMITS });
  const [first] = services;
  assert.ok(first !== undefined);
  /** How often each instance has said that the server does not answer. */
  const losses = () =>
    services.map(({ log }) => log.filter((line) => line['msg'] === LOST && line['server'] === server).length);
  return {
    async run(name: Name, fault: Fault, moment: Moment) {
      let key = '';
      let counted = '';
      for (let number = 1, isThere = false; !isThere; number++) {
        const account = `${name}, ${moment} ${number}`;
        key = await first.issueKey({ account, limits: LIMITS });
        counted = `account ${(await findAccount(first.store.accounts, account))?.id}`;
        isThere = await isCountedThere(counted);
      }
      let admitted = 0;
      const ask = async ({ url }: { readonly url: string }) => {
        const answer = await call(url, '/v1/pets', { key });
        assert.ok(answer.status === 200 || answer.status === 429, `answered ${answer.status}`);
        assertRateHeaders(answer);
        if (answer.status === 200) admitted++;
        return Number(answer.headers.get('x-ratelimit-limit'));
      };
      const askAll = () => Promise.all(services.flatMap((each) => [each, each, each]).map(ask));
      const limits = async () => [...new Set(await askAll())].join();
      await until(async () => (await limits()) === `${LIMIT}`);
      const before = losses();
      const begun = beginAt(proxy, moment, fault, `{${counted}}`);
      await askAll();
      await begun;
      await until(() => losses().every((count, index) => count > (before[index] ?? 0)));
      if (name !== 'half-open') {
        for (let times = 0; times < 3; times++) assert.equal(await limits(), `${LIMIT / 2}`);
        proxy.end();
      }
      await until(async () => (await limits()) === `${LIMIT}`);
      for (let refused = false; !refused; ) {
        const soFar = admitted;
        await askAll();
        refused = admitted === soFar;
      }
      assert.ok(admitted <= 2 * LIMIT, `${admitted} admitted`);
    },
  };
}

async function startOverRedis(t: Lifetime) {
  const proxy = await startTcpProxy(t, (await temporaryRedis(t)).url);
  return startCounting(t, proxy, [proxy.url], async () => true);
}

async function startOverCluster(t: Lifetime) {
  const servers = await temporaryCluster(t);
  const [hit, ...others] = servers;
  assert.ok(hit !== undefined);
  const proxy = await announceProxy(t, hit, servers);
  const announced = { ...hit, port: Number(new URL(proxy.url).port) };
  const isThere = async (account: string) =>
    (await findOwner(`petstore:production:{${account}}:usage`, [announced, ...others])) === announced;
  return startCounting(t, proxy, [others[0]?.url ?? ''], isThere);
}

/** A look-up has an end, and other requests do not wait for it. */
async function startOverNameServer(t: Lifetime) {
  const { address, proxy } = await startProxiedNameServer(t, () => ['8.8.8.8']);
  const tested = await startTestService(t, { nameServers: [address] });
  let names = 0;
  return {
    async run(name: Name, fault: Fault, moment: Moment) {
      const key = await tested.issueKey({ account: `${name}, ${moment}` });
      const add = () => {
        const body = JSON.stringify({ url: `https://name-${names++}.example/` });
        return call(tested.url, '/v1/webhooks', { key, body });
      };
      const begun = beginAt(proxy, moment, fault, 'name-');
      const added = add();
      await begun;
      assert.equal((await call(tested.url, '/v1/pets', { key })).status, 200);
      const answer = await added;
      const isFound = name === 'delay' || (name === 'half-open' && answer.status === 201);
      if (isFound) assert.equal(answer.status, 201, answer.text);
      else assertError(answer, 'invalid_request');
      proxy.end();
      assert.equal((await add()).status, 201);
    },
  };
}

for (const [part, { delay, start }] of Object.entries(PARTS))
  test(`requests are answered and promises hold, whatever the network does before ${part}`, async (t) => {
    const { run } = await start(t);
    for (const name of FAULTS)
      for (const moment of MOMENTS)
        await t.test(`${name}, ${moment}`, () =>
          run(name, name === 'delay' ? { delay: () => delay } : name, moment),
        );
  });
