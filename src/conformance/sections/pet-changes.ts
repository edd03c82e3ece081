// Contract: sections 2 and 3, what only a change shows.
import { toJson } from '../../domain/json.ts';
import { asText } from '../answer.ts';
import type { Check } from '../check.ts';
import { elements, isObject, type Json, member, toText } from '../json.ts';
import { CheckSkipped, type Probe } from '../probe.ts';
import { NoAnswer } from '../transport.ts';

const WRITE = ['pets:read', 'pets:write'] as const;

const without = (json: Json | undefined, ...names: readonly string[]) =>
  isObject(json)
    ? Object.fromEntries(
        Object.entries(json).filter(([name, value]) => value !== null && !names.includes(name)),
      )
    : {};

/** A body whose `name` is given as it stands in JSON. */
const withName = (probe: Probe, name: string) => `{"name":${name},"categoryId":${probe.scene.category}}`;

const check = (section: string, promise: string, run: Check['run']): Check => ({
  section,
  promise,
  scopes: WRITE,
  writes: true,
  run,
});

export const PET_CHANGES: readonly Check[] = [
  check('2.1', 'fields that NewPet does not have, and an id that is sent, have no effect', async (probe) => {
    const { answer, id } = await probe.addPet({ id: 9007199254740993n, colour: 'red' });
    probe.expect(
      answer,
      id !== 9007199254740993n && member(answer.json, 'colour') === undefined,
      'an id of the service, and no colour',
    );
  }),
  check('2.2', 'a categoryId is exact over the whole range of int64', async (probe) => {
    for (const value of [9223372036854775807n, -9223372036854775808n, 9007199254740993n]) {
      const { answer, path } = await probe.addPet({ categoryId: value });
      const read = await probe.get(path);
      for (const each of [answer, read])
        probe.expect(each, member(each.json, 'categoryId') === value, `categoryId ${value}`);
    }
  }),
  check(
    '2.2',
    '1.0 and 1e3 are integers; a fraction, a text and what lies beyond int64 are 400',
    async (probe) => {
      const name = `"Check ${probe.scene.unique()}"`;
      const body = (number: string) => `{"name":${name},"categoryId":${number}}`;
      for (const [number, value] of [
        ['1.0', 1n],
        ['1e3', 1000n],
      ] as const) {
        const answer = await probe.post('/pets', body(number));
        probe.expect(answer, member(answer.json, 'categoryId') === value, `201 with categoryId ${value}`);
      }
      for (const number of ['1.5', '"1"', '9223372036854775808'])
        probe.expectRefusal(await probe.post('/pets', body(number)), 'invalid_request');
    },
  ),
  check('2.3', 'a name comes back exactly as it was sent', async (probe) => {
    for (const name of ['  Ŗex é\u0301 ', '\u{1F415}'.repeat(200)]) {
      const { answer } = await probe.addPet({ name });
      probe.expect(answer, member(answer.json, 'name') === name, `the name ${JSON.stringify(name)}`);
    }
  }),
  check(
    '2.3',
    'a name that is empty, blank, too long or no text is 400, and so is a body that is not UTF-8',
    async (probe) => {
      const names = ['""', '"  "', `"${'x'.repeat(201)}"`, '1', '"a\\u0000b"', '"\\ud800"'];
      for (const name of names)
        probe.expectRefusal(await probe.post('/pets', withName(probe, name)), 'invalid_request');
      const body = Buffer.from(withName(probe, '"\u00ff"'), 'latin1');
      const answer = await probe.send({ method: 'POST', path: '/pets', body });
      probe.expect(answer, answer.status === 400 || answer.status === 415, '400 invalid_request');
    },
  ),
  check('2.4', 'an animal can have any of the three statuses or none, and no other', async (probe) => {
    for (const status of ['available', 'pending', 'sold', undefined]) {
      const { answer } = await probe.addPet({ status });
      probe.expect(answer, (member(answer.json, 'status') ?? undefined) === status, status ?? 'no status');
    }
    for (const status of ['lost', null, 'Available'])
      probe.expectRefusal(
        await probe.post('/pets', { name: 'Check', categoryId: probe.scene.category, status }),
        'invalid_request',
      );
  }),
  check(
    '2.9',
    'what an animal may have besides comes back as it was sent, and an empty text counts as absent',
    async (probe) => {
      const details = {
        description: 'Calm.',
        breed: 'Beagle',
        sex: 'male',
        size: 'medium',
        color: 'Tricolor',
        birthDate: '2024-02-29',
        photoUrls: ['https://photos.example/rex.jpg'],
        tags: ['calm', 'Good with cats'],
        reference: `check ${probe.scene.unique()}`,
      };
      const { answer } = await probe.addPet(details);
      const came = without(answer.json, 'id', 'name', 'categoryId');
      probe.expect(answer, toJson(came) === toJson(details), toJson(details));
      const empty = await probe.addPet({ breed: '', tags: [] });
      probe.expect(
        empty.answer,
        Object.keys(without(empty.answer.json)).length === 3,
        'no breed and no tags',
      );
      for (const wrong of [
        { sex: 'unknown' },
        { birthDate: '2024-02-30' },
        { breed: null },
        { tags: ['a', 'A'] },
      ])
        probe.expectRefusal(
          await probe.post('/pets', { name: 'Check', categoryId: probe.scene.category, ...wrong }),
          'invalid_request',
        );
    },
  ),
  check('2.9', 'two animals of an account cannot have the same reference', async (probe) => {
    const reference = `check ${probe.scene.unique()}`;
    const { id } = await probe.addPet({ reference });
    const second = { name: 'Check', categoryId: probe.scene.category, reference };
    probe.expectRefusal(await probe.post('/pets', second), 'conflict');
    const found = await probe.get(`/pets?mine=true&reference=${encodeURIComponent(reference)}`);
    probe.expect(
      found,
      member((found.json as readonly Json[] | undefined)?.[0], 'id') === id,
      `the animal ${id}`,
    );
  }),
  check('3.1', 'a DELETE with a body is 400 and deletes nothing', async (probe) => {
    const { path } = await probe.addPet();
    probe.expectRefusal(await probe.send({ method: 'DELETE', path, body: '{}' }), 'invalid_request');
    probe.expectStatus(await probe.get(path), 200);
  }),
  check(
    '3.2',
    'categoryId, name, reference and mine keep only such animals, and a name in any case',
    async (probe) => {
      const [name, reference] = [probe.scene.unique(), `check ${probe.scene.unique()}`];
      const { id } = await probe.addPet({ name: `Straße ${name}`, reference });
      const filters = [
        `categoryId=${probe.scene.category}&name=${encodeURIComponent(`STRASSE ${name.toUpperCase()}`)}`,
        `mine=true&reference=${encodeURIComponent(reference)}`,
        `categoryId=${probe.scene.category}&mine=true&limit=1`,
      ];
      for (const filter of filters) {
        const answer = await probe.get(`/pets?${filter}`);
        const ids = elements(answer.json).map((pet) => member(pet, 'id'));
        probe.expect(answer, ids.length === 1 && ids[0] === id, `the animal ${id} and no other`);
      }
    },
  ),
  check(
    '3.3',
    'an animal is there for every list and every get once it was answered, on any connection',
    async (probe) => {
      const addresses = await probe.scene.addresses();
      let answered = 0;
      for (const fresh of addresses.length > 1 ? addresses : [true as const, true as const]) {
        const { answer, id, path } = await probe.addPet();
        for (const [read, expected] of [
          [path, asText(answer)],
          [`/pets?id=${id}`, `[${asText(answer)}]`],
        ] as const) {
          // A host may have an address at which nobody listens, such as ::1 of localhost.
          const found = await probe.trySending({ method: 'GET', path: read, fresh });
          if (found instanceof NoAnswer) continue;
          probe.expect(found, asText(found) === expected, `200 ${expected}`);
          answered++;
        }
        if (fresh === addresses.at(-1))
          probe.expect(answer, answered > 0, `an answer at ${addresses.join(' or ')}`, 'none');
      }
    },
  ),
  check('3.3', 'a body that is missing, no JSON or without a required field is 400', async (probe) => {
    for (const body of [
      undefined,
      '',
      '{',
      '[]',
      '{"name":"Check"}',
      `{"categoryId":${probe.scene.category}}`,
    ])
      probe.expectRefusal(await probe.post('/pets', body), 'invalid_request');
  }),
  check('3.3', 'a body of another media type is 415, and one of more than 64 KiB is 413', async (probe) => {
    const body = withName(probe, '"Check"');
    probe.expectRefusal(
      await probe.post('/pets', body, { 'Content-Type': 'text/plain' }),
      'unsupported_media_type',
    );
    const encoded = { 'Content-Encoding': 'gzip' };
    probe.expectRefusal(await probe.post('/pets', body, encoded), 'unsupported_media_type');
    const large = body.padEnd(64 * 1024 + 1);
    probe.expectRefusal(await probe.post('/pets', large), 'payload_too_large');
  }),
  check(
    '3.4',
    'the same Idempotency-Key with the same body gives the first answer again, and adds nothing',
    async (probe) => {
      const body = withName(probe, `"Check ${probe.scene.unique()}"`);
      const key = { 'Idempotency-Key': probe.scene.unique() };
      const first = await probe.post('/pets', body, key);
      probe.requireStatus(first, 201);
      const path = `/pets/${toText(member(first.json, 'id'))}`;
      await probe.patch(path, { name: 'Changed' });
      const again = await probe.post('/pets', body, key);
      probe.expect(
        again,
        again.status === 201 &&
          asText(again) === asText(first) &&
          again.headers['location'] === first.headers['location'],
        `201 ${asText(first)}`,
      );
    },
  ),
  check(
    '3.4',
    'a repeated answer carries Idempotent-Replay: true, and the first one does not',
    async (probe) => {
      const body = withName(probe, '"Check"');
      const key = { 'Idempotency-Key': probe.scene.unique() };
      const replays: (string | undefined)[] = [];
      let again = await probe.post('/pets', body, key);
      replays.push(again.headers['idempotent-replay']);
      again = await probe.post('/pets', body, key);
      replays.push(again.headers['idempotent-replay']);
      probe.expect(again, replays.join() === ',true', 'none, then true', replays.map(String).join(', then '));
    },
  ),
  check('3.4', 'an Idempotency-Key of more than 255 characters is 400', async (probe) => {
    const key = { 'Idempotency-Key': 'k'.repeat(256) };
    probe.expectRefusal(await probe.post('/pets', withName(probe, '"Check"'), key), 'invalid_parameter');
  }),
  check('3.4', 'a 4xx is not stored with its Idempotency-Key', async (probe) => {
    const key = { 'Idempotency-Key': probe.scene.unique() };
    probe.expectRefusal(await probe.post('/pets', withName(probe, '""'), key), 'invalid_request');
    probe.expectStatus(await probe.post('/pets', withName(probe, '"Check"'), key), 201);
  }),
  check('3.4', 'the same Idempotency-Key with another body is 422', async (probe) => {
    const key = { 'Idempotency-Key': probe.scene.unique() };
    probe.requireStatus(await probe.post('/pets', withName(probe, '"Check"'), key), 201);
    probe.expectRefusal(await probe.post('/pets', withName(probe, '"Other"'), key), 'idempotency_key_reused');
  }),
  check(
    '3.6',
    'If-Match with another tag or a weak one is 412 and changes nothing; with the right one the answer has a new ETag',
    async (probe) => {
      const { path } = await probe.addPet();
      const before = await probe.get(path);
      const { etag = '' } = before.headers;
      if (etag === '') throw new CheckSkipped('there is no ETag');
      for (const tag of ['"another"', `W/${etag}`])
        probe.expectRefusal(
          await probe.patch(path, { name: 'Changed' }, { 'If-Match': tag }),
          'precondition_failed',
        );
      probe.expectRefusal(await probe.delete(path, { 'If-Match': '"another"' }), 'precondition_failed');
      const after = await probe.get(path);
      probe.expect(after, asText(after) === asText(before), asText(before));
      const changed = await probe.patch(path, { name: 'Changed' }, { 'If-Match': etag });
      probe.expectStatus(changed, 200);
      const tag = changed.headers['etag'];
      probe.expect(changed, tag !== undefined && tag !== etag, 'a new ETag', `ETag: ${tag}`);
    },
  ),
  check(
    '3.9',
    'a patch changes what it names and nothing else; null removes, and an empty object changes nothing',
    async (probe) => {
      const { answer, path } = await probe.addPet({ status: 'available', breed: 'Beagle' });
      const renamed = await probe.patch(path, { name: 'Changed', noSuchField: 1 });
      const expected = { ...without(answer.json), name: 'Changed' };
      probe.expect(renamed, asText(renamed) === toJson(expected), toJson(expected));
      const same = await probe.patch(path, {}, { 'Content-Type': 'application/merge-patch+json' });
      probe.expect(same, asText(same) === toJson(expected), toJson(expected));
      const less = await probe.patch(path, { status: null, breed: null });
      const rest = without(expected, 'status', 'breed');
      probe.expect(less, asText(less) === toJson(rest), toJson(rest));
      const read = await probe.get(path);
      probe.expect(read, asText(read) === toJson(rest), toJson(rest));
    },
  ),
  check(
    '3.9',
    'a patch that removes what is required is 400, and one of another media type 415 with Accept-Patch',
    async (probe) => {
      const { path } = await probe.addPet();
      for (const wrong of [{ name: null }, { categoryId: null }, { status: 'lost' }])
        probe.expectRefusal(await probe.patch(path, wrong), 'invalid_request');
      const answer = await probe.patch(path, '{}', { 'Content-Type': 'text/plain' });
      probe.expectRefusal(answer, 'unsupported_media_type');
      const types = answer.headers['accept-patch'] ?? '';
      probe.expect(
        answer,
        types.includes('application/merge-patch+json'),
        'Accept-Patch with both types',
        `Accept-Patch: ${types}`,
      );
      probe.expectRefusal(await probe.patch('/pets/9223372036854775807', { name: 'Check' }), 'not_found');
    },
  ),
  check('3.9', 'what is wrong comes in its order: 404, then 412, then 400', async (probe) => {
    const { path } = await probe.addPet();
    const header = { 'If-Match': '"another"' };
    const none = await probe.patch('/pets/9223372036854775807', { name: null }, header);
    probe.expectRefusal(none, 'not_found');
    probe.expectRefusal(await probe.patch(path, { name: null }, header), 'precondition_failed');
    probe.expectRefusal(await probe.patch(path, { name: null }, { 'If-Match': '*' }), 'invalid_request');
  }),
  check(
    '3.10',
    'a deleted animal is gone from every get and list, and its id is not used again',
    async (probe) => {
      const { id, path } = await probe.addPet();
      const answer = await probe.delete(path);
      probe.expect(answer, answer.status === 204 && answer.body.length === 0, '204 without a body');
      probe.expectRefusal(await probe.get(path), 'not_found');
      const list = await probe.get(`/pets?id=${id}`);
      probe.expect(list, list.text === '[]', '200 []');
      probe.expectRefusal(await probe.delete(path), 'not_found');
      const next = await probe.addPet();
      probe.expect(next.answer, next.id > id, `an id above ${id}`);
    },
  ),
];
