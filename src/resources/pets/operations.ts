// Contract: sections 2.1 and 3.
import { describeEvents } from '../events/schema.ts';
import { z } from 'zod';
import type { KeyRecord, Owner } from '../../domain/account.ts';
import {
  change,
  create,
  type Deprecation,
  forOperators,
  list,
  type OperatorCall,
  type OperatorOperation,
  type OperatorResource,
  otherTag,
  read,
  remove,
  type Resource,
} from '../../http/operation.ts';
import { toPatch } from '../../domain/patch.ts';
import { LARGE_BODY_LIMIT } from '../../domain/errors.ts';
import { flag, int64, int64List, LIMIT, oneOf, wholeText } from '../../http/parameters.ts';
import type { PetRepository } from './repository.ts';
import { EXAMPLE_PET, Inventory, NewPet, Pet, PetPatch, PetStatus } from './schema.ts';

/** How many animals one request can ask for by their ids. */
export const MOST_IDS = 100;

interface Uses {
  readonly pets: PetRepository;
}

const petId = int64({ description: 'Identifier of the animal.', example: EXAMPLE_PET.id });

const NO_PET = 'There is no animal with this petId.';
const CHANGED = otherTag('animal');
const NOT_OWN = 'This animal is not of the account of the API key: use a key that has the scope pets:manage.';

const FILTERS = {
  status: oneOf(PetStatus, {
    description: 'Keep only animals with this status.',
    example: EXAMPLE_PET.status,
  }),
  categoryId: int64({
    description: 'Keep only animals of this category.',
    example: EXAMPLE_PET.categoryId,
  }),
  id: int64List(MOST_IDS, {
    description: `Keep only these animals: repeat the parameter for up to ${MOST_IDS} of them.`,
    example: [42, 41],
  }),
  name: wholeText(200, {
    description: 'Beta. Keep only animals of this name: the whole name, in whatever case.',
    example: EXAMPLE_PET.name,
  }),
  reference: wholeText(100, {
    description: "Beta. Keep only animals with this reference, their owner's own number.",
    example: 'A745123',
  }),
};

export const listPets = list(Pet, 'animals', {
  id: 'listPets',
  path: '/pets',
  scope: 'pets:read',
  description: 'Returns a page of animals, the newest first.',
  parameters: {
    ...FILTERS,
    mine: flag({ description: 'Beta. With `true`, keep only animals of the account of the key.' }),
  },
  sample: { client: 'pets.list', query: { limit: LIMIT.default, status: EXAMPLE_PET.status } },
  handle: ({ parameters, accountId, signal }, { pets }: Uses) =>
    pets.list({ ...parameters, signal, ...(parameters.mine && { accountId }) }),
});

export const createPet = create(NewPet, Pet, {
  id: 'createPet',
  path: '/pets',
  scope: 'pets:write',
  summary: 'Add an animal',
  description:
    'Adds an animal of the account of the key, and answers once it is stored for good. Fields that NewPet does not have are ignored. ' +
    'With an `Idempotency-Key` the request can be repeated without adding the animal twice.',
  bodyLimit: LARGE_BODY_LIMIT,
  errors: { conflict: 'An animal of the account has this reference already.' },
  sample: { client: 'pets.create' },
  handle: ({ actor, accountId, body, idempotency }, { pets }: Uses) =>
    pets.create(actor, body, idempotency, accountId),
});

export const GET_PET_DEPRECATION: Deprecation = {
  since: Date.UTC(2025, 11, 5),
  removal: Date.UTC(2030, 11, 5),
  successor: '/pets',
};

export const getPet = read(Pet, {
  id: 'getPet',
  path: '/pets/{petId}',
  scope: 'pets:read',
  summary: 'Get an animal',
  description:
    'Returns one animal. Use `GET /pets` instead: `?id=42` gives the animal with this id, and `?status=available` those with a ' +
    'status. Once removed, this operation answers 410.',
  deprecated: GET_PET_DEPRECATION,
  parameters: {
    petId,
  },
  errors: { not_found: NO_PET },
  sample: { client: 'pets.get' },
  handle: ({ parameters }, { pets }: Uses) => pets.get(parameters.petId),
});

const CHANGES =
  'Changes the fields that the body names (RFC 7396): `null` removes a field that is not required, and an empty object changes nothing. ' +
  'While an order of the animal is open, its status cannot be changed.';
const DELETES = 'Deletes an animal for good, unless an order of it is open. Its id is never used again.';

/** Whose animals a key may change. Operators have no key, and may change any. */
function readOwner({
  key,
  accountId,
}: {
  readonly key: KeyRecord | undefined;
  readonly accountId: number;
}): Owner {
  return key?.scopes.includes('pets:manage') === true ? {} : { accountId };
}

export const updatePet = change(PetPatch, Pet, {
  id: 'updatePet',
  path: '/pets/{petId}',
  scope: 'pets:write',
  stability: 'beta',
  guide: 'States of an animal',
  summary: 'Change an animal',
  description: `${CHANGES} A key changes animals of its account, and with \`pets:manage\` any.`,
  parameters: { petId },
  bodyLimit: LARGE_BODY_LIMIT,
  example: { ...EXAMPLE_PET, status: 'sold' },
  errors: {
    not_found: NO_PET,
    insufficient_scope: NOT_OWN,
    precondition_failed: CHANGED,
    conflict: 'An order of this animal is open: the status can be changed when the order has ended.',
  },
  sample: { client: 'pets.update' },
  handle: ({ actor, key, accountId, parameters, body, ifMatch }, { pets }: Uses) =>
    pets.update(actor, parameters.petId, body, { ...readOwner({ key, accountId }), ifMatch }),
});

export const deletePet = remove({
  id: 'deletePet',
  path: '/pets/{petId}',
  scope: 'pets:write',
  stability: 'beta',
  guide: 'States of an animal',
  summary: 'Delete an animal',
  description: `${DELETES} A key deletes animals of its account, and with \`pets:manage\` any.`,
  parameters: { petId },
  answer: 'The animal is deleted.',
  errors: {
    not_found: NO_PET,
    insufficient_scope: NOT_OWN,
    precondition_failed: CHANGED,
    conflict: 'An order of this animal is open: complete or cancel it first.',
  },
  sample: { client: 'pets.delete' },
  handle: ({ actor, key, accountId, parameters, ifMatch }, { pets }: Uses) =>
    pets.delete(actor, parameters.petId, { ...readOwner({ key, accountId }), ifMatch }),
});

const getInventory = read(Inventory, {
  id: 'getInventory',
  path: '/store/inventory',
  scope: 'store:read',
  stability: 'beta',
  summary: 'Count the animals',
  description:
    'Returns how many animals of the catalogue there are of each status. The numbers are of one moment within the last minute.',
  sample: { client: 'orders.inventory' },
  handle: async (_call, { pets }: Uses) => ({ value: await pets.countByStatus() }),
});

export const CLIENTS: readonly Resource<Uses>[] = [
  {
    name: 'Pets',
    description: 'The animals of the catalogue.',
    uses: { pets: true },
    operations: [listPets, createPet, getPet, updatePet, deletePet],
  },
  { name: 'Store', uses: { pets: true }, operations: [getInventory] },
];

/* For operators: whose an animal is and who changed it last, clients never see. */

const OF_ACCOUNT = {
  ...EXAMPLE_PET,
  ownerId: 1,
  owner: 'shop',
  changedAt: '2027-01-15T09:00:00.000Z',
  changedBy: { kind: 'key', name: '12' },
};

const OperatorPet = Pet.extend({
  ownerId: z.int().meta({ description: 'The account that the animal belongs to. 0 is the house.' }),
  owner: z.string().optional().meta({ description: 'The name of the account. The house has none.' }),
  changedAt: z.iso
    .datetime()
    .optional()
    .meta({ description: 'When it was added or last changed. Absent when nobody knows.' }),
  changedBy: z
    .object({ kind: z.string(), name: z.string() })
    .optional()
    .meta({
      description:
        'By whom: an `operator`, a `key` by its number, or a user of the `system`; `service` is the service itself, which expires ' +
        'orders. Absent when nobody knows.',
    }),
}).meta({
  id: 'Pet',
  description: 'An animal of the catalogue.',
  examples: [
    OF_ACCOUNT,
    {
      ...EXAMPLE_PET,
      id: 41,
      name: 'Luna',
      ownerId: 0,
      changedAt: '2027-01-14T16:30:00.000Z',
      changedBy: { kind: 'operator', name: 'ada' },
    },
  ],
});

const listAllPets = list(OperatorPet, 'animals', {
  id: 'listPets',
  path: '/pets',
  role: 'viewer',
  description: 'Returns a page of animals, the newest first.',
  parameters: {
    ...FILTERS,
    accountId: int64({
      description: 'Keep only animals of this account; of the house with 0.',
      example: 1,
    }),
  },
  handle: ({ parameters, signal }, { pets }: Uses) => pets.listWithOwners({ ...parameters, signal }),
});

const createOwnedPet: OperatorOperation<Uses> = {
  ...forOperators(createPet, {
    role: 'admin',
    description: 'Adds an animal of the house.',
    schema: OperatorPet,
  }),
  async handle({ actor, body }: OperatorCall<object, NewPet>, { pets }) {
    const created = await pets.create(actor, body);
    return 'error' in created ? created : pets.getWithOwner(created.value.id);
  },
};

interface PetId {
  readonly petId: bigint;
}

const getOwnedPet: OperatorOperation<Uses> = {
  ...forOperators(getPet, { role: 'viewer', description: 'Returns one animal.', schema: OperatorPet }),
  handle: ({ parameters }: OperatorCall<PetId>, { pets }) => pets.getWithOwner(parameters.petId),
};

const updateOwnedPet: OperatorOperation<Uses> = {
  ...forOperators(updatePet, {
    role: 'admin',
    description: CHANGES,
    schema: OperatorPet,
    example: { ...OF_ACCOUNT, status: 'sold' },
  }),
  async handle({ actor, parameters: { petId: id }, body }: OperatorCall<PetId, PetPatch>, { pets }) {
    const changed = await pets.update(actor, id, toPatch(body));
    return 'error' in changed ? changed : pets.getWithOwner(id);
  },
};

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Animals',
  description: 'The animals of the catalogue.',
  uses: { pets: true },
  operations: [
    listAllPets,
    createOwnedPet,
    getOwnedPet,
    updateOwnedPet,
    forOperators(deletePet, { role: 'admin', description: DELETES }),
  ],
};

export const EVENTS = describeEvents('pet', Pet, {
  id: 'PetEvent',
  description: 'Something happened to an animal. `data` is the animal, of a deleted one as it was before.',
  hasVersion: true,
  types: {
    'pet.created': { when: 'An animal was added.' },
    'pet.updated': { when: 'An animal has changed. An order changes its status too.' },
    'pet.deleted': { when: 'An animal was deleted.' },
  },
});
