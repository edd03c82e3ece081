// Contract: sections 2 and 3, what can be seen without a change.
import { toJson } from '../../domain/json.ts';
import { type Answer, asText, withoutNulls } from '../answer.ts';
import type { Check } from '../check.ts';
import { elements, type Json, member, toText } from '../json.ts';
import { CheckSkipped, type Probe } from '../probe.ts';

const READ = ['pets:read'] as const;

const idsIn = ({ json }: Answer): readonly bigint[] =>
  elements(json).flatMap((item) => {
    const id = member(item, 'id');
    return typeof id === 'bigint' ? id : [];
  });

const areDescending = (ids: readonly bigint[]) =>
  ids.every((id, index) => index === 0 || id < (ids[index - 1] ?? id));

/** The address of the next page, or undefined. */
export function nextOf({ headers }: Answer): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
}

/**
 * The path of a next page below the base address; undefined if there is no next page. Only the path of a `Link` is used, because
 * another host would get the key.
 */
export function nextPath(probe: Probe, answer: Answer): string | undefined {
  const next = nextOf(answer);
  const [base = ''] = probe.scene.bases;
  const url = next === undefined ? null : URL.parse(next, `${base}/`);
  return url === null ? undefined : `${url.pathname}${url.search}`.replace(/^.*?\/v1(?=\/)/, '');
}

/** The newest animals, at most `count`. Skips the check if there are fewer than `least`. */
async function newest(probe: Probe, count: number, least: number): Promise<Answer> {
  const answer = await probe.get(`/pets?limit=${count}`);
  probe.requireStatus(answer, 200);
  if (elements(answer.json).length < least) throw new CheckSkipped(`there are fewer than ${least} animals`);
  return answer;
}

async function firstPet(probe: Probe): Promise<{ readonly pet: Json; readonly id: bigint }> {
  const answer = await newest(probe, 1, 1);
  const [pet = null] = elements(answer.json);
  const id = member(pet, 'id');
  probe.require(answer, typeof id === 'bigint', 'an animal with an id');
  return { pet, id: id as bigint };
}

export const PETS: readonly Check[] = [
  {
    section: '2.2',
    promise: 'the ends of int64 are ids like any others, and what lies beyond is no int64',
    scopes: READ,
    run: async (probe) => {
      const ends = await probe.get('/pets?id=9223372036854775807&id=-9223372036854775808');
      probe.expect(ends, ends.status === 200 && ends.text === '[]', '200 []');
      probe.expectRefusal(await probe.get('/pets?id=9223372036854775808'), 'invalid_parameter');
      probe.expectRefusal(await probe.get('/pets?categoryId=1.5'), 'invalid_parameter');
      probe.expectRefusal(await probe.get('/pets/9223372036854775808'), 'not_found');
      probe.expectRefusal(await probe.get('/pets/abc'), 'not_found');
    },
  },
  {
    section: '3.2',
    promise: 'a page has at most limit animals, or 20 without it',
    scopes: READ,
    run: async (probe) => {
      for (const [query, most] of [
        ['', 20],
        ['?limit=1', 1],
        ['?limit=100', 100],
      ] as const) {
        const answer = await probe.get(`/pets${query}`);
        if (!probe.expectStatus(answer, 200)) continue;
        const { length } = elements(answer.json);
        probe.expect(answer, length <= most, `at most ${most} animals`, `${length} animals`);
      }
    },
  },
  {
    section: '3.2',
    promise: 'an invalid limit is 400, and never clamped',
    scopes: READ,
    run: async (probe) => {
      for (const query of ['limit=0', 'limit=101', 'limit=1.5', 'limit=abc', 'limit=', 'limit=5&limit=5'])
        probe.expectRefusal(await probe.get(`/pets?${query}`), 'invalid_parameter');
    },
  },
  {
    section: '3.2',
    promise: 'an invalid status, mine, id or cursor is 400',
    scopes: READ,
    run: async (probe) => {
      const tooMany = Array.from({ length: 101 }, (_, index) => `id=${index + 1}`).join('&');
      for (const query of ['status=lost', 'status=', 'mine=maybe', 'cursor=no-cursor', tooMany])
        probe.expectRefusal(await probe.get(`/pets?${query}`), 'invalid_parameter');
    },
  },
  {
    section: '3.2',
    promise: 'a parameter that is no percent-encoded UTF-8 is 400',
    scopes: READ,
    run: async (probe) => {
      probe.expectRefusal(await probe.get('/pets?name=%FF'), 'invalid_parameter');
    },
  },
  {
    section: '3.2',
    promise: 'unknown parameters are ignored',
    scopes: READ,
    run: async (probe) => {
      const answer = await probe.get('/pets?limit=1&no-such-parameter=1');
      probe.expectStatus(answer, 200);
    },
  },
  {
    section: '3.2',
    promise: 'with a status, a page has only animals with that status',
    scopes: READ,
    run: async (probe) => {
      for (const status of ['available', 'pending', 'sold']) {
        const answer = await probe.get(`/pets?limit=10&status=${status}`);
        if (!probe.expectStatus(answer, 200)) continue;
        const others = elements(answer.json).filter((pet) => member(pet, 'status') !== status);
        probe.expect(answer, others.length === 0, `only animals that are ${status}`);
      }
    },
  },
  {
    section: '3.2',
    promise: 'the newest animals come first: ids descend',
    scopes: READ,
    run: async (probe) => {
      const answer = await newest(probe, 20, 2);
      const ids = idsIn(answer);
      probe.expect(answer, areDescending(ids), 'descending ids', ids.join(', '));
    },
  },
  {
    section: '3.2',
    promise: 'following Link neither skips nor repeats an animal',
    scopes: READ,
    run: async (probe) => {
      const before = await newest(probe, 6, 3);
      let last = await probe.get('/pets?limit=2');
      probe.requireStatus(last, 200);
      const walked = [...idsIn(last)];
      let path = nextPath(probe, last);
      for (let pages = 1; pages < 3 && path !== undefined; pages++) {
        last = await probe.get(path);
        probe.requireStatus(last, 200);
        walked.push(...idsIn(last));
        path = nextPath(probe, last);
      }
      probe.expect(last, areDescending(walked), 'descending ids over all pages', walked.join(', '));
      // Others may add and delete meanwhile: what is in both lists was there all the time.
      const after = new Set(idsIn(await newest(probe, 20, 0)));
      const [first = 0n, end] = [walked[0], path === undefined ? 0n : walked.at(-1)];
      const missed = idsIn(before).filter(
        (id) => id <= first && id >= (end ?? 0n) && after.has(id) && !walked.includes(id),
      );
      probe.expect(last, missed.length === 0, `pages with ${missed.join(', ')}`, walked.join(', '));
    },
  },
  {
    section: '3.2',
    promise: 'the last page has no Link',
    scopes: READ,
    run: async (probe) => {
      const { id } = await firstPet(probe);
      const answer = await probe.get(`/pets?id=${id}&limit=1`);
      probe.requireStatus(answer, 200);
      const { link } = answer.headers;
      probe.expect(answer, nextOf(answer) === undefined, 'no Link with rel="next"', `Link: ${link}`);
    },
  },
  {
    section: '3.2',
    promise: 'Link is absolute, begins with the base address and keeps the filters',
    scopes: READ,
    run: async (probe) => {
      const { pet } = await firstPet(probe);
      const filter = `categoryId=${toText(member(pet, 'categoryId'))}`;
      const answer = await probe.get(`/pets?limit=1&${filter}`);
      probe.requireStatus(answer, 200);
      const next = nextOf(answer);
      if (next === undefined) throw new CheckSkipped('there are fewer than 2 animals of one category');
      const { bases } = probe.scene;
      const came = `Link: ${answer.headers['link']}`;
      const isBelow = bases.some((base) => next.startsWith(`${base}/pets?`));
      probe.expect(answer, isBelow, `a Link that begins with ${bases.join(' or ')}`, came);
      const parts = new Set(next.replace(/^[^?]*\?/, '').split('&'));
      const isWhole = parts.has('limit=1') && parts.has(filter) && /[?&]cursor=/.test(next);
      probe.expect(answer, isWhole, `a Link with limit=1, ${filter} and cursor`, came);
    },
  },
  {
    section: '3.2',
    promise: 'id returns these animals only: each once, and none for an id that names none',
    scopes: READ,
    run: async (probe) => {
      await probe.expectAtLast(async () => {
        const { id } = await firstPet(probe);
        const answer = await probe.get(`/pets?id=${id}&id=${id}&id=9223372036854775807`);
        probe.requireStatus(answer, 200);
        return { answer, holds: idsIn(answer).join() === String(id), expected: `the animal ${id}, once` };
      });
    },
  },
  {
    section: '3.5',
    promise: 'getPet returns the animal as the list does, and 404 when there is none',
    scopes: READ,
    run: async (probe) => {
      probe.expectRefusal(await probe.get('/pets/9223372036854775807'), 'not_found');
      await probe.expectAtLast(async () => {
        const { pet, id } = await firstPet(probe);
        const answer = await probe.get(`/pets/${id}`);
        const holds = answer.status === 200 && asText(answer) === toJson(withoutNulls(pet));
        return { answer, holds, expected: `200 ${toJson(pet)}` };
      });
    },
  },
  {
    section: '3.6',
    promise: 'If-None-Match with the ETag is 304 without a body, and 200 with another',
    scopes: READ,
    run: async (probe) => {
      const path = '/pets?limit=1&status=sold';
      await probe.expectAtLast(async () => {
        const { etag } = (await probe.get(path)).headers;
        if (etag === undefined) throw new CheckSkipped('there is no ETag');
        const answer = await probe.get(path, { 'If-None-Match': etag });
        const holds = answer.status === 304 && answer.body.length === 0;
        return { answer, holds, expected: '304 without a body' };
      });
      const other = await probe.get(path, { 'If-None-Match': '"another"' });
      probe.expectStatus(other, 200);
    },
  },
  {
    section: '3.7',
    promise: 'HEAD answers as GET does, without a body',
    scopes: READ,
    run: async (probe) => {
      const path = '/pets?limit=1';
      const names = ['etag', 'content-type', 'cache-control', 'link'] as const;
      await probe.expectAtLast(async () => {
        const { status, headers } = await probe.get(path);
        const answer = await probe.send({ method: 'HEAD', path });
        const holds =
          answer.status === status && names.every((name) => answer.headers[name] === headers[name]);
        return { answer, holds, expected: `${status} with the ${names.join(', ')} of the GET` };
      });
    },
  },
  {
    section: '3.7',
    promise: 'OPTIONS is 204 without a key, with the methods of the path',
    run: async (probe) => {
      const answer = await probe.send({ method: 'OPTIONS', path: '/pets', key: null });
      probe.requireStatus(answer, 204);
      const methods = answer.headers['access-control-allow-methods'] ?? '';
      probe.expect(
        answer,
        ['GET', 'HEAD', 'POST', 'OPTIONS'].every((method) => methods.includes(method)),
        'Access-Control-Allow-Methods: GET, HEAD, POST, OPTIONS',
        `Access-Control-Allow-Methods: ${methods}`,
      );
    },
  },
  {
    section: '3.7',
    promise: 'browsers may read the rate headers and the others that the contract names',
    run: async (probe) => {
      const origin = 'https://petstore-check.example';
      const answer = await probe.get('/account', { Origin: origin });
      const allowed = answer.headers['access-control-allow-origin'];
      if (allowed === undefined) throw new CheckSkipped('CORS_ORIGINS does not allow every origin');
      probe.expect(answer, allowed === '*' || allowed === origin, '* or the origin', allowed);
      const exposed = (answer.headers['access-control-expose-headers'] ?? '').toLowerCase().split(/, */);
      const missing = EXPOSED.filter((name) => !exposed.includes(name.toLowerCase()));
      probe.expect(answer, missing.length === 0, 'all of them', `without ${missing.join(', ')}`);
    },
  },
  {
    section: '3.8',
    promise: 'X-Request-Id comes back if it has the right form, and is replaced otherwise',
    run: async (probe) => {
      const id = `check-${probe.scene.unique()}`;
      const same = await probe.get('/account', { 'X-Request-Id': id });
      probe.expect(same, same.headers['x-request-id'] === id, id, same.headers['x-request-id']);
      const other = await probe.get('/account', { 'X-Request-Id': 'not valid!' });
      probe.expect(other, other.headers['x-request-id'] !== 'not valid!', 'another id', 'not valid!');
    },
  },
];

const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Link',
  'Location',
  'Retry-After',
  'Deprecation',
  'Sunset',
  'ETag',
  'X-Request-Id',
  'Idempotent-Replay',
];
