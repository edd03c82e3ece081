// A rolling upgrade: the version before and this one serve side by side, over one PostgreSQL and one Redis, and each
// honours what the other wrote.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, type Asked, assertError, call } from '../support/api.ts';
import { sharedServers } from '../support/instances.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { run, runJson, type Variables } from '../support/process.ts';
import { test } from '../support/test.ts';
import {
  checkOutVersionBefore,
  lacksVersionBefore,
  migrationsOf,
  serve,
  THIS_VERSION,
  VERSION_BEFORE,
} from './version-before.ts';

const skip = lacksVersionBefore();
const file = lifetimeOfFile();

/** How long what one version does may take to be seen by the other, in milliseconds: 5 s, and more on a busy machine. */
const PATIENCE = 60_000;

const PLENTY = ['--plan', 'enterprise', '--per-minute', '1000000000', '--per-day', '1000000000'];
const SCOPES = [
  '--scopes',
  'pets:read,pets:write,pets:manage,store:read,store:write,events:read,keys:manage',
];

interface Key {
  readonly id: number;
  readonly key: string;
}

/** Refusals that ban a key. */
const BAN_AFTER = 11;

const ENV = { BAN_AFTER: `${BAN_AFTER}`, PRODUCTION_URL: 'https://petstore.example/v1' };

interface Pair {
  readonly variables: Variables;
  /** Both directions: what one writes, the other one reads. */
  readonly directions: readonly (readonly [name: string, one: string, other: string])[];
  /** A key of a new account. */
  readonly issueKey: (account: string, options?: readonly string[]) => Promise<Key>;
}

/** Both versions; the version before starts first, so this one migrates its database while it serves. */
async function startPair(): Promise<Pair> {
  const variables = { ...(await sharedServers(file)), ...ENV };
  const before = await serve(file, checkOutVersionBefore(file), variables);
  const now = await serve(file, THIS_VERSION, variables);
  const [old, current] = [before.url, now.url];
  assert.ok(old !== undefined && current !== undefined, `${before.stderr}${now.stderr}`);
  return {
    variables,
    directions: [
      ['before to now', old, current],
      ['now to before', current, old],
    ],
    issueKey: (account, options = [...PLENTY, ...SCOPES]) =>
      runJson<Key>(['keys', 'create', '--account', account, ...options], variables),
  };
}

// One for all tests, which use accounts of their own, because two services take long to start.
let pair: Promise<Pair> | undefined;
const bothVersions = (): Promise<Pair> => (pair ??= startPair());

/** Asks until the answer is as it should be; the last one if it never is. */
async function poll(ask: () => Promise<Answer>, isDone: (answer: Answer) => boolean): Promise<Answer> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const answer = await ask();
    if (isDone(answer) || performance.now() > end) return answer;
    await wait(50);
  }
}

const sendTo =
  (key: string) =>
  (base: string, path: string, asked: Asked = {}): Promise<Answer> =>
    call(base, `/v1${path}`, { key, ...asked });

const once = (key: string, body?: unknown): Asked => ({
  method: 'POST',
  headers: { 'idempotency-key': key },
  ...(body !== undefined && { body: JSON.stringify(body) }),
});

function assertReplay(first: Answer, second: Answer): void {
  assert.equal(second.status, first.status, second.text);
  assert.equal(second.text, first.text);
  assert.equal(second.headers.get('location'), first.headers.get('location'));
  assert.equal(first.headers.get('idempotent-replay'), null);
  assert.equal(second.headers.get('idempotent-replay'), 'true');
}

test('each version replays the answers of the other, byte by byte', { skip }, async () => {
  const { directions, issueKey } = await bothVersions();
  const send = sendTo((await issueKey('repeater')).key);
  for (const [name, one, other] of directions) {
    const pet = { name: `Rex "${name}" e\u0301`, categoryId: 7, status: 'available' };
    const created = await send(one, '/pets', once(`${name} pet`.replaceAll(' ', '-'), pet));
    assertReplay(created, await send(other, '/pets', once(`${name} pet`.replaceAll(' ', '-'), pet)));
    const reused = await send(
      other,
      '/pets',
      once(`${name} pet`.replaceAll(' ', '-'), { ...pet, name: 'Max' }),
    );
    assertError(reused, 'idempotency_key_reused');
    for (const [path, body] of [
      ['/categories', { name, description: 'd' }],
      ['/store/orders', { petId: created.json.id, shipDate: '2030-01-01T00:00:00Z' }],
    ] as const) {
      const key = `${name}${path}`.replaceAll(' ', '-');
      const first = await send(one, path, once(key, body));
      assert.equal(first.status, 201, first.text);
      assertReplay(first, await send(other, path, once(key, body)));
      if (path !== '/store/orders') continue;
      const complete = `/store/orders/${first.json.id}/complete`;
      assertReplay(
        await send(one, complete, once(`${key}-done`)),
        await send(other, complete, once(`${key}-done`)),
      );
    }
    const key = once(`${name} key`.replaceAll(' ', '-'), { label: name, scopes: ['pets:read'] });
    const issued = await send(one, '/account/keys', key);
    assert.equal(issued.status, 201, issued.text);
    const repeated = await send(other, '/account/keys', key);
    assertError(repeated, 'conflict');
    assert.doesNotMatch(repeated.text, /petstore_live_/);
  }
});

test('cursors and entity tags of each version hold for the other', { skip }, async () => {
  const { directions, issueKey } = await bothVersions();
  const send = sendTo((await issueKey('reader')).key);
  for (const [, one, other] of directions) {
    for (let count = 0; count < 3; count++) {
      const body = JSON.stringify({ name: `Rex ${count}`, categoryId: 7, status: 'available' });
      const { json } = await send(one, '/pets', { body });
      await send(one, '/store/orders', { body: JSON.stringify({ petId: json.id }) });
      await send(one, '/categories', { body: JSON.stringify({ name: `${one} ${count}`, description: 'd' }) });
    }
    for (const path of ['/pets', '/categories', '/store/orders', '/account/keys']) {
      const whole = await send(one, `${path}?limit=1`);
      const next = /[?&](cursor=[^&>]+)/.exec(whole.headers.get('link') ?? '')?.[1] ?? 'cursor=';
      if (path === '/account/keys') {
        assert.equal(next, 'cursor=');
        continue;
      }
      const [mine, theirs] = [
        await send(one, `${path}?limit=1&${next}`),
        await send(other, `${path}?limit=1&${next}`),
      ];
      assert.equal(theirs.status, 200, theirs.text);
      assert.equal(theirs.text, mine.text);
      assert.equal(theirs.headers.get('etag'), mine.headers.get('etag'));
      const link = (answer: Answer) => /[?&](cursor=[^&>]+)/.exec(answer.headers.get('link') ?? '')?.[1];
      assert.equal(link(theirs), link(mine));
      const tag = mine.headers.get('etag') ?? '';
      assert.equal(
        (await send(other, `${path}?limit=1&${next}`, { headers: { 'if-none-match': tag } })).status,
        304,
      );
    }
    const path = `/categories/${(await send(one, '/categories?limit=1')).json[0].id}`;
    const tag = (await send(one, path)).headers.get('etag') ?? '';
    const patch = {
      method: 'PATCH',
      body: JSON.stringify({ description: one }),
      headers: { 'if-match': tag },
    };
    const changed = await send(other, path, patch);
    assert.equal(changed.status, 200, changed.text);
    assertError(await send(one, path, patch), 'precondition_failed');
    assert.equal((await send(one, path)).headers.get('etag'), changed.headers.get('etag'));
  }
});

interface ListedPet {
  readonly owner?: string;
  readonly changedBy?: object;
}

test('what the version before adds belongs to the house, and what it changes keeps its owner', {
  skip,
}, async () => {
  const { directions, issueKey, variables } = await bothVersions();
  const [[, old, current] = ['', '', '']] = directions;
  const { id, key } = await issueKey('owner');
  const send = sendTo(key);
  const partner = sendTo((await issueKey('partner', ['--plan', 'free'])).key);
  const add = async (base: string): Promise<number> =>
    (await send(base, '/pets', { body: '{"name":"Rex","categoryId":7}' })).json.id;
  const show = (pet: number) => runJson<ListedPet>(['pets', 'show', String(pet)], variables);
  const patch = (name: string) => ({ method: 'PATCH', body: JSON.stringify({ name }) });
  const [ofHouse, ofOwner] = [await add(old), await add(current)];
  for (const [pet, owner, changedBy] of [
    [ofHouse, undefined, undefined],
    [ofOwner, 'owner', { kind: 'key', name: String(id) }],
  ] as const) {
    const added = await show(pet);
    assert.deepEqual([added.owner, added.changedBy], [owner, changedBy]);
    assertError(await partner(current, `/pets/${pet}`, patch('Eve')), 'insufficient_scope');
    assert.equal((await send(old, `/pets/${pet}`, patch('by the version before'))).status, 200);
    const changed = await show(pet);
    assert.deepEqual([changed.owner, changed.changedBy], [owner, undefined]);
    assert.equal((await send(current, `/pets/${pet}`, patch('by this one'))).status, 200);
    assert.equal((await send(old, `/pets/${pet}`)).json.name, 'by this one');
  }
  const isPlaced = ({ json }: Answer) =>
    json.at(-1)?.data.name === 'by this one' && json.at(-1)?.version === 3;
  const feeds = [old, current].map((base) => poll(() => send(base, '/events?type=pet.*'), isPlaced));
  const [before, now] = await Promise.all(feeds);
  assert.equal(now?.text, before?.text);
});

test('both versions share every window exactly', { skip }, async () => {
  const { directions, issueKey } = await bothVersions();
  const limits = ['--plan', 'enterprise', '--per-minute', '20', '--per-day', '1000'];
  const { key } = await issueKey('counter', limits);
  const send = sendTo(key);
  const urls = directions.map(([, one]) => one);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => send(urls[index % urls.length] ?? '', '/pets')),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [
    ...Array.from({ length: 20 }, () => 200),
    ...Array.from({ length: 10 }, () => 429),
  ]);
  const resets = new Set(answers.map(({ headers }) => headers.get('x-ratelimit-reset')));
  assert.equal(resets.size, 1, [...resets].join());
  const left = answers
    .filter(({ status }) => status === 200)
    .map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  assert.deepEqual(
    left.toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, index) => index),
  );
});

test('a ban by one version holds in the other until it is lifted', { skip }, async () => {
  const { directions, issueKey, variables } = await bothVersions();
  for (const [name, one, other] of directions) {
    const { id, key } = await issueKey(name, [
      '--plan',
      'enterprise',
      '--per-minute',
      '1',
      '--per-day',
      '1000',
    ]);
    const send = sendTo(key);
    for (let count = 0; count <= BAN_AFTER; count++) await send(one, '/pets');
    assertError(await send(one, '/pets'), 'key_banned');
    const isBanned = (answer: Answer) => answer.text.includes('key_banned');
    assertError(await poll(() => send(other, '/pets'), isBanned), 'key_banned');
    assert.equal((await run(['bans', 'lift', `${id}`], variables)).code, 0);
    // Alone, so that its refusals do not lead to the next ban.
    const isLifted = (answer: Answer) => !isBanned(answer);
    for (const base of [other, one])
      assert.ok(isLifted(await poll(() => send(base, '/pets'), isLifted)), base);
  }
});

test('keys that one version creates, rotates and revokes are so for the other within 5 seconds', {
  skip,
}, async () => {
  const { directions, issueKey } = await bothVersions();
  const send = sendTo((await issueKey('keeper')).key);
  for (const [, one, other] of directions) {
    const create = { body: JSON.stringify({ scopes: ['pets:read'] }) };
    const created = (await send(one, '/account/keys', create)).json;
    const use = (base: string, key: string) => () => call(base, '/v1/pets', { key });
    const isKnown = ({ status }: Answer) => status === 200;
    const isEnded = ({ status }: Answer) => status === 401;
    assert.equal((await poll(use(other, created.key), isKnown)).status, 200);
    const rotate = { body: '{"grace":0}' };
    const rotated = (await send(one, `/account/keys/${created.id}/rotate`, rotate)).json;
    assert.equal((await poll(use(other, created.key), isEnded)).status, 401);
    assert.equal((await poll(use(other, rotated.key), isKnown)).status, 200);
    assertError(await send(other, `/account/keys/${created.id}/rotate`, rotate), 'conflict');
    assert.equal((await send(one, `/account/keys/${rotated.id}`, { method: 'DELETE' })).status, 204);
    assert.equal((await poll(use(other, rotated.key), isEnded)).status, 401);
    const [mine, theirs] = [await send(one, '/account/keys'), await send(other, '/account/keys')];
    const states = ({ json }: Answer) =>
      json.map(({ id, state }: { id: number; state: string }) => [id, state]);
    assert.deepEqual(states(theirs), states(mine));
  }
});

test('the usage history adds up what both versions answered', { skip }, async () => {
  const { directions, issueKey } = await bothVersions();
  const { id, key } = await issueKey('user');
  const send = sendTo(key);
  for (const [, one] of directions) {
    for (let count = 0; count < 3; count++) await send(one, '/pets');
    await send(one, '/pets/999');
  }
  const expected = [
    ['getPet', id, 0, 2],
    ['listPets', id, 6, 0],
  ];
  for (const [, one] of directions) {
    const end = performance.now() + 3 * PATIENCE;
    for (;;) {
      const { json } = await send(one, '/account/usage');
      const rows = json
        .filter(({ operation }: { operation: string }) => operation !== 'getUsage')
        .map((row: Record<string, unknown>) => [
          row['operation'],
          row['keyId'],
          row['ok'],
          row['clientError'],
        ]);
      if (performance.now() > end || JSON.stringify(rows) === JSON.stringify(expected)) {
        assert.deepEqual(rows, expected);
        break;
      }
      await wait(200);
    }
  }
});

test('the version before starts beside this one, unless this one has migrated the database', {
  skip,
}, async (t) => {
  const variables = { ...(await sharedServers(t)), ...ENV };
  const now = await serve(t, THIS_VERSION, variables);
  assert.ok(now.url !== undefined, now.stderr);
  const folder = checkOutVersionBefore(file);
  const before = await serve(t, folder, variables);
  if (migrationsOf(THIS_VERSION) > migrationsOf(folder)) {
    assert.equal(before.code, 1);
    assert.match(before.stderr, /was made by a newer version of petstore; upgrade petstore\./);
    return;
  }
  assert.ok(before.url !== undefined, `${VERSION_BEFORE}: ${before.stderr}`);
  const key = await runJson<Key>(['keys', 'create', '--account', 'shop', ...PLENTY], variables);
  const send = sendTo(key.key);
  const created = await send(now.url, '/pets', { body: '{"name":"Rex","categoryId":7}' });
  assert.equal((await send(before.url, '/pets?id=1')).text, `[${created.text}]`);
});
