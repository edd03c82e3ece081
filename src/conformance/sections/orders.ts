// Contract: sections 2.6, 2.7 and 3.12.
import { asText } from '../answer.ts';
import type { Check } from '../check.ts';
import { elements, type Json, member, toText } from '../json.ts';
import type { Probe } from '../probe.ts';

const READ = ['store:read'] as const;
const WRITE = ['pets:read', 'pets:write', 'store:read', 'store:write'] as const;

/** An order of a new animal. */
async function order(probe: Probe, fields: object = {}) {
  const pet = await probe.addPet({ status: 'available' });
  const made = await probe.add('/store/orders', { petId: pet.id, ...fields });
  return { pet, ...made };
}

async function expectPet(probe: Probe, path: string, status: string): Promise<void> {
  const answer = await probe.get(path);
  probe.expect(answer, member(answer.json, 'status') === status, `an animal that is ${status}`);
}

const isInstant = (value: Json | undefined) =>
  typeof value === 'string' && value.endsWith('Z') && !Number.isNaN(Date.parse(value));

export const ORDERS: readonly Check[] = [
  {
    section: '3.12',
    promise: 'the inventory counts animals of each status, none below zero',
    scopes: READ,
    run: async (probe) => {
      const answer = await probe.get('/store/inventory');
      probe.requireStatus(answer, 200);
      const counts = ['available', 'pending', 'sold', 'unknown'].map((name) => member(answer.json, name));
      probe.expect(
        answer,
        counts.every((count) => typeof count === 'bigint' && count >= 0n),
        'four counts',
      );
    },
  },
  {
    section: '3.12',
    promise: 'the orders of the account are listed by status, and an order that it lacks is 404',
    scopes: READ,
    run: async (probe) => {
      const list = await probe.get('/store/orders?status=complete&limit=5');
      probe.requireStatus(list, 200);
      probe.expect(
        list,
        elements(list.json).every((each) => member(each, 'status') === 'complete'),
        'only orders that are complete',
      );
      probe.expectRefusal(await probe.get('/store/orders?status=lost'), 'invalid_parameter');
      probe.expectRefusal(await probe.get('/store/orders/9223372036854775807'), 'not_found');
    },
  },
  {
    section: '2.6',
    promise: 'an order has a quantity of 1, shipDate in UTC and expiresAt after createdAt',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const { answer } = await order(probe, { shipDate: '2030-05-01T12:00:00+02:00' });
      const [createdAt, expiresAt] = [member(answer.json, 'createdAt'), member(answer.json, 'expiresAt')];
      probe.expect(
        answer,
        member(answer.json, 'quantity') === 1n &&
          member(answer.json, 'status') === 'pending' &&
          member(answer.json, 'complete') === false &&
          member(answer.json, 'shipDate') === '2030-05-01T10:00:00.000Z' &&
          isInstant(createdAt) &&
          isInstant(expiresAt) &&
          toText(expiresAt) > toText(createdAt),
        'quantity 1, pending, shipDate 2030-05-01T10:00:00.000Z, createdAt and a later expiresAt',
      );
      const free = await probe.addPet({ status: 'available' });
      const two = { petId: free.id, quantity: 2 };
      probe.expectRefusal(await probe.post('/store/orders', two), 'invalid_request');
      const none = { petId: 9223372036854775807n };
      probe.expectRefusal(await probe.post('/store/orders', none), 'invalid_request');
    },
  },
  {
    section: '2.7',
    promise:
      'an animal is pending while its order is open, sold once it is complete, and available once it is cancelled',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const first = await order(probe);
      await expectPet(probe, first.pet.path, 'pending');
      const complete = await probe.post(`${first.path}/complete`);
      probe.expect(complete, member(complete.json, 'complete') === true, '200 with complete true');
      await expectPet(probe, first.pet.path, 'sold');
      const second = await order(probe);
      probe.expectStatus(await probe.delete(second.path), 204);
      await expectPet(probe, second.pet.path, 'available');
    },
  },
  {
    section: '2.7',
    promise:
      'while an order is open, no other can be made, no patch names status, and the animal is not deleted',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const { pet } = await order(probe);
      probe.expectRefusal(await probe.post('/store/orders', { petId: pet.id }), 'conflict');
      probe.expectRefusal(await probe.patch(pet.path, { status: 'sold' }), 'conflict');
      probe.expectRefusal(await probe.delete(pet.path), 'conflict');
    },
  },
  {
    section: '3.12',
    promise: 'an order is complete or cancelled for good',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const first = await order(probe);
      probe.expectStatus(await probe.post(`${first.path}/complete`), 200);
      probe.expectRefusal(await probe.post(`${first.path}/complete`), 'conflict');
      probe.expectRefusal(await probe.delete(first.path), 'conflict');
      const second = await order(probe);
      probe.expectStatus(await probe.delete(second.path), 204);
      probe.expectStatus(await probe.delete(second.path), 204);
      probe.expectRefusal(await probe.post(`${second.path}/complete`), 'conflict');
    },
  },
  {
    section: '3.12',
    promise: 'an order is found by its id and by its animal',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const { answer, path, pet } = await order(probe);
      const read = await probe.get(path);
      probe.expect(read, asText(read) === asText(answer), asText(answer));
      const list = await probe.get(`/store/orders?petId=${pet.id}`);
      probe.expect(list, asText(list) === `[${asText(answer)}]`, `[${asText(answer)}]`);
    },
  },
];
