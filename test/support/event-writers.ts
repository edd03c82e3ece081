import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Write } from './event-checker.ts';
import type { Recorded } from './order-events.ts';
import { now, type SendTo } from './order-recorder.ts';

const step = fc.record({
  kind: fc.constantFrom(
    ...([
      'create category',
      'change category',
      'describe category',
      'change nothing',
      'delete category',
    ] as const),
    ...(['create key', 'create key', 'rotate key', 'rotate key', 'revoke key'] as const),
  ),
  instance: fc.nat(2),
  /** Which of the things: 0 is the newest. */
  thing: fc.nat(2),
});

/** What three clients do at once with categories and keys, twelve steps each, one after the other. */
const plan = fc.array(fc.array(step, { minLength: 12, maxLength: 12 }), { minLength: 3, maxLength: 3 });

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Plan = readonly (readonly Step[])[];

/** Returns `count` plans, the same ones every time. */
export function inventSettingPlans(count: number): readonly Plan[] {
  return fc.sample(plan, { numRuns: count, seed: 29 });
}

interface Request {
  readonly body?: unknown;
  /** The event of a success, if a success says that this request made it. */
  readonly event?: string;
  /** Whether no other request can make this event. Then it tells of this request, also when the answer was lost. */
  readonly isUnique?: boolean;
}

/** Performs a plan with categories and keys of its own. The key of `send` needs `keys:manage`. */
export async function changeSettings(actions: Plan, send: SendTo): Promise<readonly Write[]> {
  const writes: Write[] = [];
  const categories: number[] = [];
  const keys: number[] = [];

  /** Resolves with the id of what was made. */
  const write = async (
    instance: number,
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    { body, event, isUnique = false }: Request = {},
  ): Promise<number | undefined> => {
    const began = now();
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = await send(instance, `/v1${path}`, text, headers, method).catch(() => undefined);
    const isAnswered = sent !== undefined && sent.status !== 503;
    if (isAnswered) assert.ok(sent.status < 500, sent.text);
    const isDone = isAnswered && sent.status < 300;
    if (event !== undefined && (isDone || (isUnique && !isAnswered)))
      writes.push({ event, began, ended: isDone ? now() : Number.POSITIVE_INFINITY });
    return isDone && sent.status === 201 ? JSON.parse(sent.text).id : undefined;
  };

  const create = async (instance: number, things: number[]) => {
    const name = crypto.randomUUID();
    const [path, body, event] =
      things === keys
        ? ['/account/keys', { label: name, scopes: ['pets:read'] }, `key.created ${name}`]
        : ['/categories', { name }, `category.created ${name}`];
    const id = await write(instance, 'POST', path, { body, event, isUnique: true });
    if (id !== undefined) things.unshift(id);
  };

  const act = async ({ kind, instance, thing }: Step): Promise<unknown> => {
    const things = kind.endsWith('key') ? keys : categories;
    const id = things[thing] ?? things[0];
    if (id === undefined) return create(instance, things);
    switch (kind) {
      case 'create category':
      case 'create key':
        return create(instance, things);
      case 'change category': {
        const name = crypto.randomUUID();
        const request = { body: { name }, event: `category.updated ${name}`, isUnique: true };
        return write(instance, 'PATCH', `/categories/${id}`, request);
      }
      case 'describe category':
        return write(instance, 'PATCH', `/categories/${id}`, { body: { description: crypto.randomUUID() } });
      case 'change nothing':
        return write(instance, 'PATCH', `/categories/${id}`, { body: {} });
      case 'delete category':
        categories.splice(categories.indexOf(id), 1);
        return write(instance, 'DELETE', `/categories/${id}`, {
          event: `category.deleted ${id}`,
          isUnique: true,
        });
      case 'rotate key': {
        const request = { body: { grace: 0 }, event: `key.rotated ${id}` };
        const rotated = await write(instance, 'POST', `/account/keys/${id}/rotate`, request);
        if (rotated !== undefined) keys.unshift(rotated);
        return;
      }
      case 'revoke key':
        // A key that is revoked already gets the same answer.
        return write(instance, 'DELETE', `/account/keys/${id}`);
    }
  };
  await Promise.all(
    actions.map(async (steps) => {
      for (const each of steps) await act(each);
    }),
  );
  return writes;
}

/** The writes of a history of animals and orders whose events tell that they are theirs. */
export function findWrites(history: readonly Recorded[]): readonly Write[] {
  return history.flatMap((operation) => {
    const event = findEvent(operation);
    return event === undefined ? [] : [{ event, began: operation.began, ended: operation.ended }];
  });
}

function findEvent(operation: Recorded): string | undefined {
  const { kind } = operation;
  if (kind === 'create') return `pet.created ${operation.pet.name}`;
  if (kind === 'order' && typeof operation.answer !== 'string')
    return `order.created ${operation.answer?.id ?? operation.shipDate}`;
  if (kind === 'patch' && typeof operation.answer !== 'string') {
    // Only names are unique.
    const { name } = operation.changes;
    return name && `pet.updated ${name}`;
  }
  // Of several requests without an answer, nobody knows which one was done.
  if (kind === 'delete' && operation.answer === 'done') return `pet.deleted ${operation.petId}`;
  if (kind === 'complete' && typeof operation.answer === 'object')
    return `order.completed ${operation.orderId}`;
  return undefined;
}
