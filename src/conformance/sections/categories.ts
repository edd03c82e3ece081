// Contract: sections 2.5 and 3.11.
import { toJson } from '../../domain/json.ts';
import { asText, withoutNulls } from '../answer.ts';
import type { Check } from '../check.ts';
import { elements, member, toText } from '../json.ts';

const READ = ['pets:read'] as const;
const WRITE = ['pets:read', 'pets:write', 'pets:manage'] as const;

export const CATEGORIES: readonly Check[] = [
  {
    section: '3.11',
    promise: 'getCategory returns a category as the list does, and 404 when there is none',
    scopes: READ,
    run: async (probe) => {
      probe.expectRefusal(await probe.get('/categories/9223372036854775807'), 'not_found');
      const list = await probe.get('/categories?limit=1');
      probe.requireStatus(list, 200);
      const [category] = elements(list.json);
      if (category === undefined) return;
      const answer = await probe.get(`/categories/${toText(member(category, 'id'))}`);
      probe.expect(answer, asText(answer) === toJson(withoutNulls(category)), toJson(category));
    },
  },
  {
    section: '2.5',
    promise: 'no two categories have the same name after NFC and case folding',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const name = `Check é ${probe.scene.unique()}`;
      const { answer, path } = await probe.add('/categories', { name, description: 'Of petstore check' });
      probe.expect(answer, member(answer.json, 'name') === name, `the name ${name}`);
      const same = name.normalize('NFD').toUpperCase();
      probe.expectRefusal(await probe.post('/categories', { name: same }), 'conflict');
      probe.expectRefusal(await probe.post('/categories', { name: 'x'.repeat(101) }), 'invalid_request');
      const patched = await probe.patch(path, { description: null });
      probe.expectStatus(patched, 200);
      probe.expect(patched, member(patched.json, 'description') === undefined, 'no description');
    },
  },
  {
    section: '3.11',
    promise: 'a category is deleted, but not while an animal is of it',
    scopes: WRITE,
    writes: true,
    run: async (probe) => {
      const { id, path } = await probe.add('/categories', { name: `Check ${probe.scene.unique()}` });
      const pet = await probe.addPet({ categoryId: id });
      probe.expectRefusal(await probe.delete(path), 'conflict');
      probe.expectStatus(await probe.delete(pet.path), 204);
      probe.expectStatus(await probe.delete(path), 204);
      probe.expectRefusal(await probe.get(path), 'not_found');
    },
  },
];
