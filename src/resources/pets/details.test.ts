// Contract: section 8.2.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { assertError, call } from '../../../test/support/api.ts';
import { migratedPostgres } from '../../../test/support/migrated-postgres.ts';
import { startTestService, temporaryDatabase } from '../../../test/support/service.ts';
import { test } from '../../../test/support/test.ts';
import { FIELD_NAMES } from './rules.ts';

const DATABASES: Readonly<Record<string, (t: TestContext) => string | Promise<string>>> = {
  SQLite: temporaryDatabase,
  PostgreSQL: migratedPostgres,
};

const REX = { name: 'Rex', categoryId: 7 };

const WHOLE = {
  ...REX,
  status: 'available',
  description: 'Calm.\n"Likes" children \\ cats. 🐕',
  breed: 'Beagle',
  sex: 'male',
  size: 'extra_large',
  color: 'Tricolor',
  birthDate: '2024-02-29',
  photoUrls: ['https://photos.example/rex.jpg', 'https://photos.example/r%C3%A9x.jpg'],
  tags: ['house-trained', 'ß'],
  reference: 'A"745123',
};

/** A service, and what sends requests of one account to it. */
async function prepare(t: TestContext, fresh: (typeof DATABASES)[string] = temporaryDatabase) {
  // Before its database goes: what is registered first runs first.
  t.after(() => service.stop());
  const service = await startTestService(t, { databaseUrl: await fresh(t) });
  const openClient = async (account: string) => {
    const key = await service.issueKey({ account });
    return async (method: string, path: string, body?: unknown) =>
      call(service.url, `/v1${path}`, {
        key,
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
  };
  return { service, openClient, send: await openClient('shelter') };
}

for (const [name, fresh] of Object.entries(DATABASES)) {
  test(`${name}: an animal has what it was added with, in every answer and event`, async (t) => {
    const { send } = await prepare(t, fresh);
    const added = await send('POST', '/pets', WHOLE);
    assert.equal(added.status, 201);
    const expected = JSON.stringify({ id: added.json.id, ...WHOLE });
    assert.equal(added.text, expected);
    for (const path of [`/pets/${added.json.id}`, '/pets', '/pets?id=1', '/pets?reference=A%22745123'])
      assert.equal((await send('GET', path)).text.replaceAll(/^\[|\]$/g, ''), expected, path);
    const [event] = (await send('GET', '/events?type=pet.created&wait=5')).json;
    assert.equal(JSON.stringify(event.data), expected);
  });

  test(`${name}: an animal of the specification's fields is answered in their bytes`, async (t) => {
    const { send } = await prepare(t, fresh);
    const { text } = await send('POST', '/pets', {
      ...REX,
      description: '',
      photoUrls: [],
      tags: [],
      sex: '',
    });
    assert.equal(text, '{"id":1,"name":"Rex","categoryId":7}');
    assert.equal((await send('GET', '/pets')).text, `[${text}]`);
  });

  test(`${name}: null in a patch removes each field that is not required`, async (t) => {
    const { send } = await prepare(t, fresh);
    let left: Record<string, unknown> = (await send('POST', '/pets', WHOLE)).json;
    for (const field of FIELD_NAMES.slice(2)) {
      const { [field]: _, ...others } = left;
      left = others;
      const patched = await send('PATCH', '/pets/1', { [field]: null });
      assert.equal(patched.text, JSON.stringify(left), field);
      assert.equal((await send('GET', '/pets/1')).text, patched.text, field);
    }
    const patched = await send('PATCH', '/pets/1', WHOLE);
    assert.equal(patched.text, JSON.stringify({ id: 1, ...WHOLE }));
    const event = (await send('GET', '/events?type=pet.updated&wait=5')).json.at(-1);
    assert.equal(JSON.stringify(event.data), patched.text);
  });

  test(`${name}: no two animals of an owner have the same reference`, async (t) => {
    const { send, openClient } = await prepare(t, fresh);
    const other = await openClient('rescue');
    const rex = { ...REX, reference: 'A1' };
    assert.equal((await send('POST', '/pets', rex)).status, 201);
    assertError(await send('POST', '/pets', rex), 'conflict');
    assert.equal((await other('POST', '/pets', rex)).status, 201);
    assert.equal((await send('POST', '/pets', { ...REX, reference: 'a1' })).status, 201);
    const { id } = (await send('POST', '/pets', REX)).json;
    assertError(await send('PATCH', `/pets/${id}`, { reference: 'A1', color: '' }), 'conflict');
    assert.equal((await send('PATCH', `/pets/${id}`, { reference: 'A2' })).status, 200);
    assert.equal((await send('PATCH', `/pets/${id}`, { reference: 'A2' })).status, 200);
    assert.deepEqual(
      (await send('GET', '/pets?reference=A1')).json.map(({ id: each }: { id: number }) => each),
      [2, 1],
    );
  });

  test(`${name}: of many who use one reference at once, one gets it`, async (t) => {
    const { send } = await prepare(t, fresh);
    for (let index = 0; index < 10; index++) await send('POST', '/pets', REX);
    const rex = { ...REX, reference: 'A1' };
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const answer =
          index % 2 === 0
            ? await send('POST', '/pets', rex)
            : await send('PATCH', `/pets/${(index + 1) / 2}`, { reference: 'A1' });
        return answer.status < 300 ? 'done' : answer.json.code;
      }),
    );
    assert.deepEqual(statuses.toSorted(), [...Array<string>(19).fill('conflict'), 'done']);
    assert.equal((await send('GET', '/pets?reference=A1')).json.length, 1);
  });
}

const address = (length: number) => `https://a.example/${'x'.repeat(length - 'https://a.example/'.length)}`;

/** Values at the ends of each field. */
const TAKEN: Readonly<Record<string, readonly unknown[]>> = {
  description: ['x', '🐕'.repeat(2_000)],
  breed: ['🐕'.repeat(100)],
  color: ['x'.repeat(100)],
  reference: ['🐕'.repeat(100)],
  // It is the 21st of November.
  birthDate: ['0001-01-01', '2024-02-29', '1900-02-28', '2026-11-22'],
  photoUrls: [[address(1_024)], Array(10).fill('https://a.example/'), ['HTTPS://a.example:443/ä b']],
  tags: [['🐕'.repeat(50)], Array.from({ length: 20 }, (_, index) => `${index}`)],
};

/** Values beyond the ends, and of another kind. */
const REFUSED: Readonly<Record<string, readonly unknown[]>> = {
  description: [' ', '🐕'.repeat(2_001), 'a\0', 7, null, ['x']],
  breed: ['x'.repeat(101), null],
  color: ['x'.repeat(101), null],
  reference: ['x'.repeat(101), ' ', 7, null],
  sex: ['unknown', 'Male', null],
  size: ['huge', null],
  birthDate: [
    '2023-02-29',
    '2024-02-30',
    '0000-01-01',
    '1900-02-29',
    '24-01-01',
    '2024-1-1',
    '10000-01-01',
    '2026-11-23',
    2024,
    null,
  ],
  photoUrls: [
    'https://a.example/',
    ['http://a.example/'],
    ['javascript:alert(1)'],
    ['//a.example/'],
    ['https://'],
    ['https://user@a.example/'],
    ['https://:secret@a.example/'],
    [address(1_025)],
    [`https://a.example/${'ä'.repeat(200)}`],
    Array(11).fill('https://a.example/'),
    [''],
    null,
  ],
  tags: [
    'x',
    ['Calm', 'CALM'],
    ['ß', 'SS'],
    ['x'.repeat(51)],
    [' '],
    Array.from({ length: 21 }, (_, i) => `${i}`),
    null,
  ],
};

test('each field takes the values at its ends, as they were sent', async (t) => {
  const { send } = await prepare(t);
  for (const [field, values] of Object.entries(TAKEN))
    for (const value of values) {
      const answer = await send('POST', '/pets', { ...REX, [field]: value });
      assert.equal(answer.status, 201, `${field}: ${answer.text}`);
      if (field !== 'photoUrls') assert.deepEqual(answer.json[field], value);
    }
  const { json } = await send('POST', '/pets', { ...REX, photoUrls: TAKEN['photoUrls']?.at(-1) });
  assert.deepEqual(json.photoUrls, ['https://a.example/%C3%A4%20b']);
});

test('each field refuses what lies beyond, in a POST and in a PATCH, and the message names it', async (t) => {
  const { send } = await prepare(t);
  const { text } = await send('POST', '/pets', WHOLE);
  for (const [field, values] of Object.entries(REFUSED))
    for (const value of values) {
      const created = await send('POST', '/pets', { ...REX, [field]: value });
      assertError(created, 'invalid_request');
      assert.match(created.json.message, new RegExp(`^${field}`), JSON.stringify(value));
      if (value === null) continue;
      const changed = await send('PATCH', '/pets/1', { [field]: value });
      assertError(changed, 'invalid_request');
      assert.match(changed.json.message, new RegExp(`^${field}`), JSON.stringify(value));
    }
  for (const empty of ['', []])
    assertError(await send('PATCH', '/pets/1', { tags: empty }), 'invalid_request');
  assert.equal((await send('GET', '/pets/1')).text, text);
  assert.equal((await send('GET', '/pets')).json.length, 1);
});

test('a message names every field that is wrong', async (t) => {
  const { send } = await prepare(t);
  const { json } = await send('POST', '/pets', { ...REX, sex: 'x', size: 'x', birthDate: 'x', tags: 'x' });
  for (const field of ['sex', 'size', 'birthDate', 'tags'])
    assert.match(json.message, new RegExp(`\\b${field} must`));
});
