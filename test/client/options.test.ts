// Contract: section 1.
import assert from 'node:assert/strict';
import { env } from 'node:process';
import { test } from 'node:test';
import { PetStore, type PetStoreOptions } from '../../client/src/index.ts';

const apiKey = 'petstore_live_0123456789';

test('a wrong option is refused by name, and the key is never printed', () => {
  const cases: [Record<string, unknown>, RegExp][] = [
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
    [{ pace: 'yes' }, /^pace must be true or false\.$/],
    [{ logger: {} }, /^logger must have the methods debug and warn, as console has\.$/],
    [{ fetch: 'node-fetch' }, /^fetch must be a function\.$/],
    [{ onDeprecation: true }, /^onDeprecation must be a function\.$/],
    [
      { baseURL: 'http://a/v1' },
      /^There is no option "baseURL"\. The options are apiKey, .*baseUrl, .*fetch\.$/,
    ],
    [{ toString: 1 }, /^There is no option "toString"\./],
  ];
  for (const [options, message] of cases) {
    assert.throws(
      () => new PetStore({ apiKey, ...options }),
      (error: Error) => message.test(error.message) && !error.message.includes(apiKey),
      JSON.stringify(options),
    );
  }
});

test('options that are no object are refused, and a key is not printed', () => {
  const cases: [unknown, string][] = [
    [apiKey, 'options must be an object, but a long string was given.'],
    [null, 'options must be an object, but null was given.'],
    [[apiKey], 'options must be an object, but an array was given.'],
  ];
  for (const [options, message] of cases) {
    assert.throws(() => new PetStore(options as PetStoreOptions), { name: 'TypeError', message });
  }
});

/** The addresses and keys that clients with these options use, with these environment variables. */
async function calledWith(variables: Record<string, string>, options?: PetStoreOptions): Promise<string> {
  const called: string[] = [];
  const real = globalThis.fetch;
  Object.assign(env, variables);
  globalThis.fetch = async (input, init) => {
    const { url, headers } = new Request(input, init);
    called.push(`${url} ${headers.get('authorization')}`);
    return Response.json([]);
  };
  try {
    await new PetStore(options).pets.list();
  } finally {
    globalThis.fetch = real;
    for (const name of Object.keys(variables)) delete env[name];
  }
  return called.join();
}

test('without options, key and address come from the environment', async () => {
  const variables = { PETSTORE_API_KEY: 'key-of-env', PETSTORE_URL: 'http://pets.example/v1' };
  const { PETSTORE_API_KEY } = variables;
  const cases: [Record<string, string>, PetStoreOptions | undefined, string][] = [
    [variables, undefined, 'http://pets.example/v1/pets Bearer key-of-env'],
    [variables, { apiKey: undefined, baseUrl: undefined }, 'http://pets.example/v1/pets Bearer key-of-env'],
    [variables, { apiKey }, `http://pets.example/v1/pets Bearer ${apiKey}`],
    [variables, { baseUrl: 'http://b.example/v1' }, 'http://b.example/v1/pets Bearer key-of-env'],
    [variables, { environment: 'staging' }, 'https://staging.petstore.example/v1/pets Bearer key-of-env'],
    [{ PETSTORE_API_KEY }, {}, 'https://petstore.example/v1/pets Bearer key-of-env'],
    [{ PETSTORE_API_KEY, PETSTORE_URL: '' }, {}, 'https://petstore.example/v1/pets Bearer key-of-env'],
  ];
  for (const [given, options, expected] of cases) assert.equal(await calledWith(given, options), expected);
});

test('a missing or wrong variable is named', async () => {
  const missing = {
    name: 'TypeError',
    message:
      'apiKey is missing: give new PetStore({ apiKey }), or set the environment variable PETSTORE_API_KEY.',
  };
  assert.throws(() => new PetStore(), missing);
  await assert.rejects(calledWith({ PETSTORE_API_KEY: '' }), missing);
  await assert.rejects(calledWith({ PETSTORE_API_KEY: `${apiKey}\n` }), {
    message: 'PETSTORE_API_KEY must be the API key: visible ASCII characters, without "Bearer".',
  });
  await assert.rejects(calledWith({ PETSTORE_URL: 'pets.example' }, { apiKey }), {
    name: 'TypeError',
    message: /^PETSTORE_URL must be an http or https address that ends in \/v1/,
  });
});

test('where there is no environment, a missing key is named too', () => {
  const real = Object.getOwnPropertyDescriptor(globalThis, 'process') ?? {};
  const messages: string[] = [];
  for (const value of [undefined, {}]) {
    Object.defineProperty(globalThis, 'process', { value, configurable: true });
    try {
      messages.push(typeof new PetStore());
    } catch (error) {
      messages.push(String(error));
    } finally {
      Object.defineProperty(globalThis, 'process', real);
    }
  }
  assert.match(messages.join('\n'), /^(?:TypeError: apiKey is missing: .*\n?){2}$/);
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
