import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { ApiKey, type Environment } from '../../src/domain/api-key.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { type Patch, readPatch } from '../../src/domain/patch.ts';
import { type NewPet, type Pet, PetPatch } from '../../src/resources/pets/schema.ts';
import { parseExactJson } from '../../src/domain/parse.ts';
import type { Idempotency, Repeatable } from '../../src/domain/idempotency.ts';
import type { PetPage, PetQuery } from '../../src/resources/pets/table.ts';
import type { PetRepository } from '../../src/resources/pets/repository.ts';
import type { Identified } from '../../src/storage/engine.ts';
import { toReplay } from '../../src/storage/idempotency.ts';
import { KeyUses } from '../../src/observability/key-usage.ts';
import type { NewKey } from '../../src/resources/keys/repository.ts';
import type { RepositorySettings, Store } from '../../src/resources/repositories.ts';
import type { FakeClock } from '../support/clock.ts';
import { CLIENT, createAccount } from '../support/store.ts';

/** A store of its own for one test, with what only an operator could do to it. */
export interface Fixture {
  readonly clock: FakeClock;
  readonly store: Store;
  /** Time passes, for `clock` and for a database that has a clock of its own. */
  readonly passTime: (milliseconds: number) => Promise<void>;
  /** After how many milliseconds a change of a key or plan that was made elsewhere must count, at the latest. */
  readonly noticedWithin: number;
  /** The same data through a connection of its own, as another process has it. */
  readonly another: () => Promise<Store>;
  /** Closes `store` and opens it again, as a restart does. */
  readonly reopen: () => Promise<Store>;
  /** Deletes an order by hand: the service has no operation for it. */
  readonly deleteOrder: (id: bigint) => Promise<void>;
}

/** Rules of a store that a test is about. */
/** Writes that wait for each other get as long as a busy machine needs. */
export const PATIENT_LOCKS = { lockTimeout: 120_000 };

export interface FixtureRules extends Pick<Partial<RepositorySettings>, 'maxOpenOrders'> {
  /** Milliseconds that a statement of PostgreSQL waits for a lock, where a busy machine needs longer than in production. */
  readonly lockTimeout?: number;
}

/** Gives an empty store, and removes it when the test is over. */
export type NewFixture = (t: TestContext, rules?: FixtureRules) => Promise<Fixture>;

/** The uses of keys that a service over this store notes and writes. */
export function keyUsesOf({ store, clock }: Pick<Fixture, 'store' | 'clock'>): KeyUses {
  return new KeyUses(clock, (uses) => store.keys.writeUses(uses));
}

export const REX: NewPet = { name: 'Rex', categoryId: 7n };

/** What became of the animals that were added, given what was asked for. */
export function withIdsOf(pets: readonly Pet[], asked: readonly NewPet[]): Pet[] {
  assert.equal(pets.length, asked.length);
  return pets.map(({ id }, index) => Object.assign({ id }, asked[index]));
}

/** What became of a write: `done`, `replayed`, or the code of its refusal. */
export function readOutcome(result: Repeatable<unknown, ErrorCode>): string {
  if ('value' in result) return 'done';
  return 'replay' in result ? 'replayed' : result.error;
}

/** What a write that must have been done or replayed gives back. */
export function requireValue<T>(result: Repeatable<T, ErrorCode>): T {
  if ('value' in result) return result.value;
  assert.ok('replay' in result, `The outcome is ${readOutcome(result)}.`);
  return parseExactJson(result.replay.json) as T;
}

/** What a request gets that repeats the one with this result. */
export function replayed(once: Idempotency, first: Repeatable<Identified, ErrorCode>) {
  return toReplay(once, requireValue(first));
}

/** Adds animals one after the other, and gives them oldest first. */
export async function addPets(pets: PetRepository, animals: readonly NewPet[]): Promise<Pet[]> {
  const added: Pet[] = [];
  for (const animal of animals) added.push(requireValue(await pets.create(CLIENT, animal)));
  return added;
}

/** The patch that a JSON body with these fields describes. */
export function patch(body: object): Patch<PetPatch> {
  return readPatch(PetPatch, body);
}

/** The animals of a page, exactly as its JSON has them. */
export function petsOf({ items }: Pick<PetPage, 'items'>): Pet[] {
  return parseExactJson(items) as Pet[];
}

/** One animal, exactly as its JSON has it. */
export async function get(pets: PetRepository, id: bigint): Promise<Pet | undefined> {
  const found = await pets.get(id);
  return 'error' in found ? undefined : (parseExactJson(found.value) as Pet);
}

/** The animals of one page of a list. */
export async function list(pets: PetRepository, query: PetQuery): Promise<Pet[]> {
  return petsOf(await pets.list(query));
}

/** All pages of a walk, one after the other. */
export async function walk(
  pets: PetRepository,
  query: PetQuery,
  between: () => Promise<unknown> = async () => undefined,
): Promise<Pet[]> {
  const walked: Pet[] = [];
  for (let asked: PetQuery | undefined = query; asked !== undefined; ) {
    const page: PetPage = await pets.list(asked);
    const { next } = page;
    walked.push(...petsOf(page));
    if (next !== undefined) assert.equal(next, walked.at(-1)?.id);
    asked = next === undefined ? undefined : { ...query, cursor: next };
    await between();
  }
  return walked;
}

let issued = 0;

/** A key unlike any other. */
export function newApiKey(environment: Environment = 'production'): ApiKey {
  const number = issued++;
  const random = (length: number) =>
    new Uint8Array(length).fill(number % 62).fill(Math.floor(number / 62), 0, 9);
  return ApiKey.generate(environment, random);
}

/** A key of an account, unlike any other. */
export function newKey(accountId: number, settings: Partial<NewKey> = {}): NewKey {
  return { key: newApiKey(), accountId, scopes: ['pets:read', 'pets:write'], ...settings };
}

/** A fixture with one animal, and an account that can order it. */
export async function withPet(fixture: Fixture, animal: NewPet = { ...REX, status: 'available' }) {
  const { store } = fixture;
  const { id: accountId } = await createAccount(store.accounts, 'mine', 'free', PLANS.free);
  const pet = requireValue(await store.pets.create(CLIENT, animal));
  const order = () => store.orders.create(CLIENT, accountId, { petId: pet.id });
  return { ...fixture, store, changes: store.pets, accountId, pet, order };
}
