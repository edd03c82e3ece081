// Contract: sections 3 and 4. Whatever a request holds, the answer is as described.
import assert from 'node:assert/strict';
import { env } from 'node:process';
import { openApi } from '../../src/description/openapi.ts';
import { adminOpenApi } from '../../src/description/admin-openapi.ts';
import { assertRateHeaders } from '../support/api.ts';
import { type Api, type BothApis, startBothApis } from '../support/both-apis.ts';
import { checkerOf, checkRefusal } from '../support/described.ts';
import { type Conversation, converse, drawConversation } from '../support/drawn-bytes.ts';
import { DrawnRequests } from '../support/drawn-requests.ts';
import type { Attempt } from '../support/ends.ts';
import { assertInvariants, assertPostgresInvariants } from '../support/invariants.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { headersOf } from '../support/load.ts';
import type { ResponseReader } from '../support/responses.ts';
import { isTorture } from '../support/rounds.ts';
import { PLENTY } from '../support/service.ts';
import { changeAccount } from '../support/store.ts';
import { startForFile, test } from '../support/test.ts';

/** SEED sends the same requests again. */
const SEED = Number(env['SEED'] ?? Date.now() % 2 ** 31);

/** How many requests there are of each form. PostgreSQL answers each of them in several round trips. */
const SQLITE = isTorture ? { structured: 60_000, raw: 20_000 } : { structured: 300, raw: 200 };
const POSTGRES = { structured: 15_000, raw: 5_000 };

/** Milliseconds after which a request hangs: longer than a busy machine needs. */
const PATIENCE = 60_000;

const file = lifetimeOfFile();
const databases = await startForFile(async () => ({
  SQLite: { apis: await startBothApis(file, 'SQLite'), requests: SQLITE },
  ...(isTorture && { PostgreSQL: { apis: await startBothApis(file, 'PostgreSQL'), requests: POSTGRES } }),
}));

/** The ids of what the requests need: the newest key, operator and token. */
async function sparedIds({ service }: BothApis): Promise<ReadonlySet<number>> {
  const { keys, operators } = service.store;
  const { items } = await operators.listTokens();
  const owner = await operators.find('ada');
  assert.ok('value' in owner);
  return new Set(
    [...(await keys.listAll()), ...items]
      .map(({ id }) => id)
      .filter((id) => id > 43 || id === 2)
      .concat(owner.value.id),
  );
}

/** Fails when a promise takes too long. */
async function within<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The request hangs.')), PATIENCE);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The account of the key is as before, whatever an operator did with it. */
async function restoreAccount({ service }: BothApis, { method, path }: Attempt): Promise<void> {
  if (method === 'PATCH' && path === '/accounts/1')
    await changeAccount(service.store.accounts, 1, { plan: 'enterprise', limits: PLENTY, suspended: false });
}

type Checks = Readonly<Record<Api['name'], ReturnType<typeof checkerOf>>>;

function checksOf({ service }: BothApis): Checks {
  const base = `${service.url}/v1`;
  return {
    public: checkerOf(openApi({ production: base }, base).document),
    admin: checkerOf(adminOpenApi()),
  };
}

/** How often there was each status. */
class Statuses {
  readonly #counts = new Map<number, number>();

  note(status: number): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }

  toString(): string {
    return JSON.stringify(Object.fromEntries([...this.#counts].toSorted(([a], [b]) => a - b)));
  }
}

/** Connections at once. With PostgreSQL, a busy machine would make one wait too long for the lock of another. */
const CONNECTIONS = { SQLite: 16, PostgreSQL: 1 };

/** Whether the service knows of what was sent that it is for an API. */
const isForApi = ({ prefix }: Api, sent: string) =>
  new RegExp(`^[^ ]+ (?:http://[^/ ]+)?${prefix}[/? ]`).test(sent);

function checkConversation(
  { api, whole, broken }: Conversation,
  { responses }: ResponseReader,
  checks: Checks,
): void {
  const isClosed = /\r\nconnection: close/i.test(responses.at(-1)?.head ?? '');
  assert.ok(isClosed || responses.length >= whole.length, `${responses.length} responses`);
  for (const [index, { status, head, body }] of responses.entries()) {
    const text = Buffer.from(body, 'latin1').toString();
    const received = { status, headers: headersOf(head), text };
    const { attempt, operation } = whole[index] ?? {};
    if (attempt !== undefined && operation !== undefined) {
      assert.ok(status < 500, text);
      checks[api.name](operation, attempt.method, received);
      continue;
    }
    assert.ok(status < 500 || status === 501 || status === 505, `${status} ${text}`);
    const { 'content-type': type = '', 'x-ratelimit-limit': limit } = received.headers;
    // What has become another address may name a page.
    const isPage = api.hasRateHeaders
      ? limit === undefined
      : type !== '' && !type.startsWith('application/json');
    if (isPage) assert.ok(!isForApi(api, broken ?? ''), `${status} ${head}`);
    else if (api.hasRateHeaders) assertRateHeaders({ headers: new Headers(received.headers) });
    if (!isPage && status >= 400) checkRefusal(received);
  }
}

for (const [name, { apis, requests }] of Object.entries(databases)) {
  test(`${name}: every request gets an answer as described`, async (t) => {
    const drawn = new DrawnRequests(SEED, await sparedIds(apis));
    const checks = checksOf(apis);
    const statuses = new Statuses();
    for (let number = 0; number < requests.structured; number++) {
      const api = apis[drawn.draw.chance(0.6) ? 'public' : 'admin'];
      const { attempt, operation } = drawn.next(api.operations);
      try {
        const sent = await within(api.send(attempt));
        statuses.note(sent.status);
        assert.ok(sent.status < 500, sent.text);
        if (sent.status === 401) assert.ok('authorization' in (attempt.headers ?? {}), sent.text);
        checks[api.name](operation, attempt.method, sent);
        drawn.learned.note(operation, sent.headers, sent.text);
      } catch (error) {
        const about = JSON.stringify({ ...attempt, id: operation.id }).slice(0, 2_000);
        throw new Error(`Request ${number} with SEED=${SEED}, ${api.name}: ${about}`, { cause: error });
      }
      await restoreAccount(apis, attempt);
      if (drawn.draw.chance(0.01)) await apis.pass(drawn.draw.pick([1_000, 60_000, 3_600_000]));
    }
    t.diagnostic(`SEED=${SEED} ${String(statuses)}`);
  });

  test(`${name}: whatever bytes come, each request in them gets an answer as described`, async (t) => {
    const drawn = new DrawnRequests(SEED, await sparedIds(apis));
    const checks = checksOf(apis);
    const statuses = new Statuses();
    const connections = CONNECTIONS[name as keyof typeof CONNECTIONS];
    for (let sent = 0; sent < requests.raw; sent += connections) {
      const conversations = Array.from({ length: connections }, () =>
        drawConversation(drawn, apis[drawn.draw.chance(0.7) ? 'public' : 'admin']),
      );
      await Promise.all(
        conversations.map(async (conversation, index) => {
          try {
            const reader = await within(converse(conversation));
            for (const { status } of reader.responses) statuses.note(status);
            checkConversation(conversation, reader, checks);
          } catch (error) {
            const about = JSON.stringify(conversation.bytes.toString('latin1')).slice(0, 3_000);
            throw new Error(`Connection ${sent + index} with SEED=${SEED}: ${about}`, { cause: error });
          }
        }),
      );
      for (const { whole } of conversations)
        for (const { attempt } of whole) await restoreAccount(apis, attempt);
      await apis.pass(drawn.draw.pick([1_000, 60_000]));
    }
    t.diagnostic(`SEED=${SEED} ${String(statuses)}`);
  });

  test(`${name}: after all of them the service answers, and its database is sound`, async () => {
    const { service, databaseUrl, public: api } = apis;
    assert.equal((await api.send({ method: 'GET', path: '/pets' })).status, 200);
    // A background task says so when the machine is too slow for it, and tries again.
    const faults = service.log.filter(
      ({ level, err }) => Number(level) >= 50 && !/is busy|lock timeout/.test(JSON.stringify(err)),
    );
    assert.deepEqual(faults, []);
    await service.stop();
    if (name === 'SQLite') assertInvariants(databaseUrl.slice('sqlite:'.length), 'touched');
    else await assertPostgresInvariants(databaseUrl, 'touched');
  });
}
