// Contract: section 1. Wrong arguments are named, and nothing is sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PetStore } from '../../client/src/index.ts';

class Sent extends Error {}

const store = new PetStore({
  apiKey: 'petstore_live_0123456789',
  baseUrl: 'http://127.0.0.1/v1',
  maxTries: 1,
  fetch: () => Promise.reject(new Sent()),
});

type Method = (...args: readonly unknown[]) => unknown;

const GROUPS = Object.entries(store as unknown as Readonly<Record<string, object>>);

/** Every method of the client, with its name. */
const METHODS = GROUPS.flatMap(([group, resource]) =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(resource))
    .filter((name) => name !== 'constructor')
    .map((name): readonly [string, Method] => [
      `${group}.${name}`,
      (...args) => (resource as Readonly<Record<string, Method>>)[name]?.(...args),
    ]),
);

/** Begins a call, and waits for its first answer. */
async function begin(method: Method, args: readonly unknown[]): Promise<unknown> {
  const result = method(...args) as object;
  return 'next' in result && typeof result.next === 'function' ? result.next() : result;
}

/** What the engine says of a value that nobody has checked. */
const UNCHECKED = /^Cannot |undefined \(|not a function|not iterable|out of bounds|Invalid value|is invalid/;

const WRONG = [null, true, 'x', 1.5, [], () => 1, Symbol('x')];

for (const [name, method] of METHODS)
  test(`${name} names an argument of a wrong type, and sends nothing`, async () => {
    for (const wrong of WRONG)
      for (const args of [[wrong], [wrong, wrong], [wrong, wrong, wrong], [1, wrong, wrong], [1, 1, wrong]]) {
        const shown = args.map(String).join(', ');
        await assert.rejects(begin(method, args), (error: Error) => {
          assert.ok(error instanceof TypeError || error instanceof RangeError, `${shown}: ${String(error)}`);
          assert.doesNotMatch(error.message, UNCHECKED, shown);
          return true;
        });
      }
  });

test('the client has the methods that this file tries', () => {
  assert.ok(METHODS.length >= 30, `${METHODS.length}`);
});

test('an idempotencyKey that the service would refuse is named', async () => {
  for (const idempotencyKey of ['', 'a b', 'é', 'x'.repeat(256), 5 as never, null as never])
    await assert.rejects(store.pets.create({ name: 'Rex', categoryId: 7 }, { idempotencyKey }), {
      name: 'TypeError',
      message: /^idempotencyKey must be a string of 1 to 255 visible ASCII characters/,
    });
});
