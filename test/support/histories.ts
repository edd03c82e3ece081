import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Animal, Operation, Recorded } from './catalogue-model.ts';
import type { Sent } from './load.ts';

const step = fc.record({
  kind: fc.constantFrom('create', 'create', 'list', 'list', 'list', 'get'),
  instance: fc.nat(2),
  status: fc.constantFrom('available', undefined, undefined, undefined),
  /** Which animal a get asks for: 0 is the newest that any answer showed; below 0 is one that may be there any moment. */
  age: fc.integer({ min: -3, max: 3 }),
});

/** What twelve clients do at once, four operations each, one after the other. */
const plan = fc.array(fc.array(step, { minLength: 4, maxLength: 4 }), { minLength: 12, maxLength: 12 });

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Plan = readonly (readonly Step[])[];

/** `count` plans, the same ones every time. */
export function inventPlans(count: number): readonly Plan[] {
  return fc.sample(plan, { numRuns: count, seed: 4 });
}

/** One request to one of three instances. Rejects when its connection is lost. */
export type Send = (instance: number, path: string, body?: string) => Promise<Sent>;

interface Recording {
  readonly send: Send;
  /** Of the animals there before, the largest id. */
  readonly newest: number;
  /** Called after each operation with the number that have ended. */
  readonly onEnd?: (count: number) => void;
}

/** Starts all clients of a plan at once, and records what each saw and when. The last operation lists all animals. */
export async function record(
  actions: Plan,
  { send, newest, onEnd }: Recording,
): Promise<readonly Recorded[]> {
  const history: Recorded[] = [];
  let ended = 0;
  let highest = newest;
  const saw = (animals: readonly Animal[]) => {
    highest = Math.max(highest, ...animals.map(({ id }) => id));
  };

  const create = async ({ instance, status }: Step): Promise<Operation> => {
    const animal = { name: `Pet ${crypto.randomUUID()}`, ...(status !== undefined && { status }) };
    const body = JSON.stringify({ ...animal, categoryId: 1 });
    const answer = await send(instance, '/v1/pets', body).catch(() => undefined);
    if (answer === undefined) return { kind: 'create', animal };
    const created = bodyOf(answer, 201) as Animal;
    saw([created]);
    return { kind: 'create', animal, id: created.id };
  };
  const list = async ({ instance, status }: Pick<Step, 'instance' | 'status'>): Promise<Operation> => {
    const filter = status === undefined ? '' : `&status=${status}`;
    const answer = bodyOf(await send(instance, `/v1/pets?limit=100${filter}`), 200) as Animal[];
    saw(answer);
    return { kind: 'list', limit: 100, status, answer };
  };
  const get = async ({ instance, age }: Step): Promise<Operation> => {
    const id = Math.max(0, highest - age);
    const answer = await send(instance, `/v1/pets/${id}`);
    return { kind: 'get', id, answer: answer.status === 404 ? undefined : (bodyOf(answer, 200) as Animal) };
  };

  const perform = async (operation: () => Promise<Operation>) => {
    const began = performance.now();
    // Of a list or a get without an answer there is nothing to judge.
    const done = await operation().catch((error: Error) => {
      if (error instanceof assert.AssertionError) throw error;
    });
    const unanswered = done?.kind === 'create' && done.id === undefined;
    if (done !== undefined)
      history.push({ ...done, began, ended: unanswered ? Number.POSITIVE_INFINITY : performance.now() });
    onEnd?.(++ended);
  };
  const operations = { create, list, get };
  await Promise.all(
    actions.map(async (steps) => {
      for (const each of steps) await perform(() => operations[each.kind](each));
    }),
  );
  await perform(() => list({ instance: 0, status: undefined }));
  return history;
}

function bodyOf({ status, text }: Sent, expected: number): unknown {
  assert.equal(status, expected, text);
  return JSON.parse(text);
}
