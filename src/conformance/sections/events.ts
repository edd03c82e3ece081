// Contract: section 13.2.
import { toJson } from '../../domain/json.ts';
import type { Answer } from '../answer.ts';
import type { Check } from '../check.ts';
import { elements, type Json, member, toText } from '../json.ts';
import type { Probe } from '../probe.ts';
import { nextOf, nextPath } from './pets.ts';

const READ = ['events:read'] as const;
const WRITE = ['events:read', 'pets:read', 'pets:write', 'store:read', 'store:write'] as const;

/** Pages that are read to find events, each with a wait of a few seconds. */
const MOST_PAGES = 20;

/** The events after a page that belong to these things, once there are `count`. */
async function follow(
  probe: Probe,
  from: Answer,
  belongs: (event: Json) => boolean,
  count: number,
): Promise<{ readonly events: readonly Json[]; readonly last: Answer }> {
  const events: Json[] = [];
  let last = from;
  for (let pages = 0; pages < MOST_PAGES && events.length < count; pages++) {
    const path = nextPath(probe, last);
    probe.require(
      last,
      path !== undefined,
      'a Link with rel="next" on every page',
      `Link: ${last.headers['link']}`,
    );
    last = await probe.get(path ?? '');
    probe.requireStatus(last, 200);
    const page = elements(last.json);
    events.push(...page.filter(belongs));
    if (page.length === 0 && pages > 2) break;
  }
  return { events, last };
}

const describe = (event: Json) => `${toText(member(event, 'type'))} ${toText(member(event, 'version'))}`;

export const EVENTS: readonly Check[] = [
  {
    section: '13.2',
    promise: 'after=now is an empty page whose Link begins now, with Cache-Control: no-store and no ETag',
    scopes: READ,
    run: async (probe) => {
      const answer = await probe.get('/events?after=now&type=pet.*&limit=5&wait=1');
      probe.requireStatus(answer, 200);
      probe.expect(answer, answer.text === '[]', '200 []');
      const next = nextOf(answer) ?? '';
      probe.expect(
        answer,
        ['after=', 'limit=5', 'wait=1', 'type='].every((part) => next.includes(part)),
        'a Link with after, type, limit and wait',
        `Link: ${answer.headers['link']}`,
      );
      probe.expect(
        answer,
        answer.headers['cache-control'] === 'no-store' && answer.headers['etag'] === undefined,
        'Cache-Control: no-store and no ETag',
        `Cache-Control: ${answer.headers['cache-control']}, ETag: ${answer.headers['etag']}`,
      );
    },
  },
  {
    section: '13.2',
    promise: 'an unknown type, a wait of more than 30 seconds and a text that is no cursor are 400',
    scopes: READ,
    run: async (probe) => {
      for (const query of ['type=pet.lost', 'wait=31', 'limit=101', 'after=no-cursor'])
        probe.expectRefusal(await probe.get(`/events?${query}`), 'invalid_parameter');
    },
  },
  {
    section: '13.2',
    promise:
      'every change of an animal comes once, in its order, with ascending versions and what a GET gives',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const from = await probe.get('/events?after=now&type=pet.*&wait=5');
      probe.requireStatus(from, 200);
      const { answer, id, path } = await probe.addPet({ status: 'available' });
      const patched = await probe.patch(path, { name: `Changed ${probe.scene.unique()}` });
      probe.requireStatus(patched, 200);
      probe.requireStatus(await probe.delete(path), 204);
      const ofPet = (event: Json) => member(member(event, 'data'), 'id') === id;
      const { events, last } = await follow(probe, from, ofPet, 3);
      const expected = ['pet.created 1', 'pet.updated 2', 'pet.deleted 3'].join(', ');
      const came = events.map(describe).join(', ');
      probe.require(last, came === expected, expected, came === '' ? 'none of them' : came);
      const [first = null, second = null] = events;
      for (const [event, change] of [
        [first, answer],
        [second, patched],
      ] as const)
        probe.expect(
          change,
          toJson(member(event, 'data')) === toJson(change.json),
          'the same in the event',
          toJson(member(event, 'data')),
        );
    },
  },
  {
    section: '13.1',
    promise: 'the event of an order comes before that of its animal',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const from = await probe.get('/events?after=now&type=order.*&type=pet.*&wait=5');
      probe.requireStatus(from, 200);
      const pet = await probe.addPet({ status: 'available' });
      const order = await probe.add('/store/orders', { petId: pet.id });
      probe.requireStatus(await probe.delete(order.path), 204);
      const belongs = (event: Json) => {
        const data = member(event, 'data');
        const isOrder = toText(member(event, 'type')).startsWith('order.');
        return member(data, 'id') === (isOrder ? order.id : pet.id);
      };
      const { events, last } = await follow(probe, from, belongs, 5);
      const expected = 'pet.created, order.created, pet.updated, order.cancelled, pet.updated';
      const came = events.map((event) => toText(member(event, 'type'))).join(', ');
      probe.expect(last, came === expected, expected, came === '' ? 'none of them' : came);
    },
  },
];
