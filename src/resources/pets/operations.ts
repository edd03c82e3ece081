// Contract: sections 2.1 and 3.
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
import { flag, int64, int64List, LIMIT, oneOf } from '../../http/parameters.ts';
import type { PetRepository } from './repository.ts';
import { NewPet, Pet, PetPatch, PetStatus } from './schema.ts';
import { petJson, petsJson } from './table.ts';

/** How many animals one request can ask for by their ids. */
export const MOST_IDS = 100;

export const EXAMPLE_PET = {
  id: 42n,
  name: 'Rex',
  categoryId: 7n,
  status: 'available',
} as const satisfies Pet;
const WITHOUT_STATUS: Pet = { id: 40n, name: 'Minka', categoryId: 3n };

const PET: unknown = JSON.parse(petJson(EXAMPLE_PET));
/** The answer to the request of the code samples, which asks for animals that are available. */
const AVAILABLE_PETS: unknown = JSON.parse(
  petsJson([EXAMPLE_PET, { id: 41n, name: 'Luna', categoryId: 3n, status: EXAMPLE_PET.status }]),
);
const ANY_PETS: unknown = JSON.parse(petsJson([EXAMPLE_PET, WITHOUT_STATUS]));
const NEW_PET = { name: 'Rex', categoryId: 7, status: 'available' };

interface Stores {
  readonly pets: PetRepository;
}

const petId = int64({ description: 'Identifier of the animal.', example: Number(EXAMPLE_PET.id) });

const NO_PET = 'There is no animal with this petId.';
const CHANGED = otherTag('animal');
const NOT_OWN = 'This animal is not of the account of the API key: use a key that has the scope pets:manage.';

const Pets = z.array(Pet).max(LIMIT.maximum).meta({ id: 'Pets', description: 'Animals, the newest first.' });

const FILTERS = {
  status: oneOf(PetStatus.options, 'PetStatus', {
    description: 'Keep only animals with this status.',
    example: EXAMPLE_PET.status,
  }),
  categoryId: int64({
    description: 'Keep only animals of this category.',
    example: Number(EXAMPLE_PET.categoryId),
  }),
  id: int64List(MOST_IDS, {
    description: `Keep only these animals: repeat the parameter for up to ${MOST_IDS} of them.`,
    example: [42, 41],
  }),
};

const PAGES = {
  available: { summary: 'Animals that are available', value: AVAILABLE_PETS },
  any: { summary: 'Animals of any status; one has none', value: ANY_PETS },
  empty: { summary: 'No animal matches', value: [] },
};

export const listPets = list(Pets, 'animals', {
  id: 'listPets',
  path: '/pets',
  scope: 'pets:read',
  description: 'Returns a page of animals, the newest first.',
  parameters: {
    ...FILTERS,
    mine: flag({ description: 'Beta. With `true`, keep only animals of the account of the key.' }),
  },
  examples: PAGES,
  sample: { client: 'pets.list', query: { limit: LIMIT.default, status: EXAMPLE_PET.status } },
  handle: ({ parameters, accountId, signal }, { pets }: Stores) =>
    pets.list(parameters.mine ? { ...parameters, accountId, signal } : parameters),
});

export const createPet = create(NewPet, Pet, {
  id: 'createPet',
  path: '/pets',
  scope: 'pets:write',
  summary: 'Add an animal',
  description:
    'Adds an animal of the account of the key, and answers once it is stored for good. Fields that NewPet does not have are ignored. ' +
    'With an `Idempotency-Key` the request can be repeated without adding the animal twice.',
  body: {
    description: 'The animal to add.',
    examples: {
      complete: { summary: 'With every field', value: NEW_PET },
      withoutStatus: { summary: 'Without a status', value: { name: 'Minka', categoryId: 3 } },
    },
  },
  answer: {
    description: 'The animal was added; the body carries its `id`.',
    examples: { added: { summary: 'The animal as it was stored', value: PET } },
  },
  sample: { client: 'pets.create' },
  handle: ({ actor, accountId, body, idempotency }, { pets }: Stores) =>
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
  answer: {
    description: 'The animal.',
    examples: { found: { summary: 'An animal that is available', value: PET } },
  },
  errors: { not_found: NO_PET },
  sample: { client: 'pets.get' },
  handle: ({ parameters }, { pets }: Stores) => pets.get(parameters.petId),
});

const CHANGES =
  'Changes the fields that the body names (RFC 7396): `null` removes the status, and an empty object changes nothing. ' +
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
  body: {
    description: 'The fields to change.',
    examples: {
      status: { summary: 'Another status', value: { status: 'sold' } },
      withoutStatus: { summary: 'Another name, and no status', value: { name: 'Rexi', status: null } },
    },
  },
  answer: {
    description: 'The animal as it is now.',
    examples: {
      changed: { summary: 'An animal that was sold', value: { ...NEW_PET, status: 'sold', id: 42 } },
    },
  },
  errors: {
    not_found: NO_PET,
    insufficient_scope: NOT_OWN,
    precondition_failed: CHANGED,
    conflict: 'An order of this animal is open: the status can be changed when the order has ended.',
  },
  sample: { client: 'pets.update' },
  handle: ({ actor, key, accountId, parameters, body, ifMatch }, { pets }: Stores) =>
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
  handle: ({ actor, key, accountId, parameters, ifMatch }, { pets }: Stores) =>
    pets.delete(actor, parameters.petId, { ...readOwner({ key, accountId }), ifMatch }),
});

export const CLIENT_PETS: Resource<Stores> = {
  name: 'Pets',
  description: 'The animals of the catalogue.',
  schemas: [
    { schema: PetStatus, example: EXAMPLE_PET.status },
    { schema: NewPet, example: NEW_PET },
    { schema: PetPatch, example: { status: 'sold' } },
    { schema: Pet, example: PET },
    { schema: Pets, example: ANY_PETS },
  ],
  operations: [listPets, createPet, getPet, updatePet, deletePet],
};

/* For operators: whose an animal is and who changed it last, clients never see. */

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
}).meta({ id: 'Pet', description: 'An animal of the catalogue.' });

const OperatorPets = z
  .array(OperatorPet)
  .max(LIMIT.maximum)
  .meta({ id: 'Pets', description: 'Animals, the newest first.' });

const OF_ACCOUNT = {
  ...EXAMPLE_PET,
  id: Number(EXAMPLE_PET.id),
  categoryId: Number(EXAMPLE_PET.categoryId),
  ownerId: 1,
  owner: 'shop',
  changedAt: '2027-01-15T09:00:00.000Z',
  changedBy: { kind: 'key', name: '12' },
};
const { owner: _, ...BY_OPERATOR } = {
  ...OF_ACCOUNT,
  ownerId: 0,
  changedBy: { kind: 'operator', name: 'ada' },
};

const OWNED_PET = {
  schema: OperatorPet,
  examples: {
    account: { summary: 'An animal of an account', value: OF_ACCOUNT },
    house: { summary: 'An animal of the house', value: BY_OPERATOR },
  },
};

const listAllPets = list(OperatorPets, 'animals', {
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
  examples: { page: { summary: 'An animal of an account', value: [OF_ACCOUNT] } },
  handle: ({ parameters, signal }, { pets }: Stores) => pets.listWithOwners({ ...parameters, signal }),
});

const createOwnedPet: OperatorOperation<Stores> = {
  ...forOperators(createPet, {
    role: 'admin',
    description: 'Adds an animal of the house.',
    ...OWNED_PET,
  }),
  async handle({ actor, body }: OperatorCall<object, NewPet>, { pets }) {
    const created = await pets.create(actor, body);
    return 'error' in created ? created : pets.getWithOwner(created.value.id);
  },
};

interface PetId {
  readonly petId: bigint;
}

const getOwnedPet: OperatorOperation<Stores> = {
  ...forOperators(getPet, { role: 'viewer', description: 'Returns one animal.', ...OWNED_PET }),
  handle: ({ parameters }: OperatorCall<PetId>, { pets }) => pets.getWithOwner(parameters.petId),
};

const updateOwnedPet: OperatorOperation<Stores> = {
  ...forOperators(updatePet, { role: 'admin', description: CHANGES, ...OWNED_PET }),
  async handle({ actor, parameters: { petId: id }, body }: OperatorCall<PetId, PetPatch>, { pets }) {
    const changed = await pets.update(actor, id, toPatch(body));
    return 'error' in changed ? changed : pets.getWithOwner(id);
  },
};

export const OPERATOR_PETS: OperatorResource<Stores> = {
  name: 'Animals',
  description: 'The animals of the catalogue.',
  operations: [
    listAllPets,
    createOwnedPet,
    getOwnedPet,
    updateOwnedPet,
    forOperators(deletePet, { role: 'admin', description: DELETES }),
  ],
};
