// Contract: section 1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PetStore } from '../../client/src/index.ts';

const apiKey = 'petstore_live_0123456789';

test('a wrong option is refused by name, and the key is never printed', () => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ apiKey: undefined }, /^apiKey must be/],
    [{ apiKey: '' }, /^apiKey must be/],
    [{ apiKey: `Bearer ${apiKey}` }, /^apiKey must be/],
    [{ apiKey: `${apiKey}\n` }, /^apiKey must be/],
    [{ environment: 'test' }, /^environment must be production or staging\.$/],
    [{ environment: 'staging', baseUrl: 'http://127.0.0.1/v1' }, /^Give either environment or baseUrl/],
    ...[
      '127.0.0.1:8080',
      'ftp://a/v1',
      'http://a',
      'http://a/v1?x',
      'http://a/v1#x',
      `http://u:${apiKey}@a/v1`,
    ].map((baseUrl): [Record<string, unknown>, RegExp] => [
      { baseUrl },
      /^baseUrl must be an http or https address that ends in \/v1/,
    ]),
    [{ maxTries: 0 }, /^maxTries must be an integer from 1 to 2147483647\.$/],
    [{ maxTries: 1.5 }, /^maxTries/],
    [{ maxWait: -1 }, /^maxWait/],
    [{ maxWait: Infinity }, /^maxWait/],
    [{ timeout: 0 }, /^timeout/],
    [{ timeout: '5' }, /^timeout/],
  ];
  for (const [options, message] of cases) {
    assert.throws(
      () => new PetStore({ apiKey, ...options }),
      (error: Error) => message.test(error.message) && !error.message.includes(apiKey),
      JSON.stringify(options),
    );
  }
});

test('the client calls production unless staging is chosen', async () => {
  const called: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    called.push(new Request(input).url);
    return Response.json([]);
  };
  await new PetStore({ apiKey, fetch }).pets.list();
  await new PetStore({ apiKey, fetch, environment: 'production' }).pets.list();
  await new PetStore({ apiKey, fetch, environment: 'staging' }).pets.list();
  await new PetStore({ apiKey, fetch, baseUrl: new URL('https://pets.example/base/v1/') }).pets.list();
  assert.deepEqual(called, [
    'https://petstore.example/v1/pets',
    'https://petstore.example/v1/pets',
    'https://staging.petstore.example/v1/pets',
    'https://pets.example/base/v1/pets',
  ]);
});
