import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { verifyWebhook } from '../../client/src/index.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { call } from '../support/api.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { NODE_20, projectWithClient, TYPESCRIPT_5 } from '../support/packed-client.ts';
import { startTestService, type TestService } from '../support/service.ts';

const readme = readFileSync(new URL('../../client/README.md', import.meta.url), 'utf8');

/** The examples of the README, each with the output that it shows. */
const examples = [...readme.matchAll(/```ts\n(.*?)```\n\n```\n(.*?)```/gs)].map(
  ([, code = '', output = '']) => ({ code, output }),
);

const TYPED = `
import { type ApiPromise, type ApiResponse, type CategoryPage, type Event, type EventPage, type Int64, type Logger, type Order, type Pet, type PetPage, PetStore, PreconditionFailedError, RateLimitError, type RateLimitWindow, type TestEvent, verifyWebhook, type Webhook, WebhookError } from 'petstore-client';

const logger: Logger = { debug() {}, warn(message, { operation, status }) { console.log(message, operation, status); } };
const client = new PetStore({ apiKey: undefined, pace: true, logger });
new PetStore({ logger: console });
const creating: ApiPromise<Pet> = client.pets.create({ name: 'Rex', categoryId: 2n ** 60n, status: 'sold' }, { timeout: 60_000, maxTries: 2 });
const pet: Pet = await creating;
const { response }: { response: ApiResponse } = await creating.withResponse();
const id: Int64 = pet.id;
const page: PetPage = await client.pets.list({ limit: 1, status: 'sold' }, { signal: AbortSignal.timeout(60_000) });
for await (const { pets } of client.pets.list().pages()) console.log(pets.length, response.status);
for await (const { name } of client.pets.list()) console.log(name, id, page.pets.length);
const window: RateLimitWindow | undefined = client.rateLimit?.minute;
console.log(window?.resetsAt.getTime() !== undefined, RateLimitError.name);
const ordering: ApiPromise<Order> = client.orders.create({ petId: id, quantity: 1, shipDate: '2027-01-15T10:00:00Z' }, { idempotencyKey: 'typed' });
if (id === 0) await ordering;
else await ordering.catch((error: unknown) => console.log(error instanceof PreconditionFailedError));
const categories: CategoryPage = await client.categories.list({ limit: 1 });
const gone: void = await client.pets.delete(id, { ifMatch: '*' });
console.log(categories.categories.length, gone);
for await (const { petId, status, complete } of client.orders.list({ petId: id, status: 'expired' })) console.log(petId, status, complete);
await client.pets.list({ id: [1, 2n], categoryId: 7n });
const feed: EventPage = await client.events.list({ types: ['pet.*', 'order.created'], limit: 1 });
const nameOf = (event: Event | TestEvent): string => (event.type === 'pet.created' ? event.data.name : event.type);
console.log(feed.events.map(nameOf), feed.next.length > 0);
const webhooks: readonly Webhook[] = (await client.webhooks.list()).webhooks;
const verifying: Promise<Event | TestEvent> = verifyWebhook(new Uint8Array(), new Headers({ 'webhook-id': '1' }), 'whsec_AAAA');
await verifying.catch((error: unknown) => console.log(webhooks.length, error instanceof WebhookError));
// @ts-expect-error: not a type of events
if (id === 0) await client.events.list({ types: ['pet.sold'] });
// @ts-expect-error: only follow waits by itself
if (id === 0) client.events.follow({ wait: 30 });
// @ts-expect-error: null is no name
if (id === 0) await client.pets.update(id, { name: null, status: null });
// @ts-expect-error: there is no other quantity
if (id === 0) await client.orders.create({ petId: id, quantity: 2 });
// @ts-expect-error: an ETag that is missing protects nothing
if (id === 0) await client.pets.delete(id, { ifMatch: undefined });
// @ts-expect-error: not a status
client.pets.list({ status: 'lost' });
// @ts-expect-error: not an option
if (id === 0) new PetStore({ baseURL: 'http://127.0.0.1/v1' });
// @ts-expect-error: an animal has a category
if (id === 0) await client.pets.create({ name: 'Rex' });
`;

/**
 * Strict options for all TypeScript files of a project, as TypeScript 5.0 knows them. The declarations of the package are checked,
 * those of the language are not: that takes a third of the time.
 */
function typescriptOptions(module: string, moduleResolution: string): string {
  return JSON.stringify({
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      skipDefaultLibCheck: true,
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
      module,
      moduleResolution,
      rootDir: '.',
      outDir: moduleResolution,
    },
    include: ['*.ts'],
  });
}

async function variablesOf(service: TestService): Promise<Record<string, string>> {
  return { PETSTORE_API_KEY: await service.issueKey({ scopes: SCOPES }), PETSTORE_URL: `${service.url}/v1` };
}

test('the package has only what it needs', async (t) => {
  const { files } = await projectWithClient(t);
  assert.deepEqual(
    files.filter((file) => !/^dist\/[a-z-]+\.(?:js|d\.ts)$/.test(file)),
    ['LICENSE', 'README.md', 'package.json'],
  );
});

test('petstore-client listen sends signed events to a local program, on Node.js 20.0 and now', async (t) => {
  const project = await projectWithClient(t);
  const service = await startTestService(t);
  const endpoint = await startEndpoint(t);
  const bin = 'node_modules/petstore-client/dist/cli.js';
  const variables = await variablesOf(service);
  for (const node of [NODE_20, execPath]) {
    const child = project.start(
      node,
      [bin, 'listen', '--forward-to', endpoint.url, '--type=pet.created'],
      variables,
    );
    t.after(() => child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value: first = '' } = await lines.next();
    assert.match(
      first,
      new RegExp(
        `^Events of ${service.url}/v1 go to ${endpoint.url}, signed with whsec_\\S+ \\(120 requests`,
      ),
    );
    const body = '{"name":"Zoë","categoryId":1152921504606846976}';
    await call(service.url, '/v1/pets', { key: variables['PETSTORE_API_KEY'] ?? '', body });
    assert.match(String((await lines.next()).value), / {2}pet\.created {2}\S+ {2}204$/);
    const { headers, body: sent } = endpoint.received.at(-1) ?? assert.fail('Nothing came.');
    const event = await verifyWebhook(sent, headers, /whsec_\S+/.exec(first)?.[0] ?? '');
    assert.ok(event.type === 'pet.created' && event.data.name === 'Zoë');
    assert.equal(event.data.categoryId, 2n ** 60n);
    child.kill('SIGINT');
  }
  // The name of the program, as npm links it.
  assert.match(
    await project.run('node_modules/.bin/petstore-client', ['--help']),
    /^Usage: petstore-client listen /,
  );
});

test('petstore-client listen says what is wrong in one line', async (t) => {
  const project = await projectWithClient(t);
  const refusal = async (args: readonly string[], variables: Record<string, string> = {}) => {
    const failed: unknown = await project
      .run('node_modules/.bin/petstore-client', args, {
        PETSTORE_API_KEY: '',
        PETSTORE_URL: '',
        ...variables,
      })
      .catch((error: unknown) => error);
    const { code, stderr } = failed as { code: number; stderr: string };
    return [code, stderr];
  };
  const to = ['listen', '--forward-to', 'http://127.0.0.1:1/'];
  for (const [args, message] of [
    [[], 'name a command: listen.'],
    [['serve'], 'the only command is listen.'],
    [['listen'], '--forward-to must be an http or https URL.'],
    [['listen', '--forward-to', 'file:/tmp'], '--forward-to must be an http or https URL.'],
    [[...to, '--tipe', 'pet.*'], 'there is no option --tipe.'],
  ] as const)
    assert.deepEqual(await refusal(args), [2, `petstore-client: ${message}\n`]);
  assert.match(String(await refusal(to)), /^2,petstore-client: .*PETSTORE_API_KEY\.\n$/);
  const service = await startTestService(t);
  const wrong = { PETSTORE_API_KEY: 'petstore_live_wrong', PETSTORE_URL: `${service.url}/v1` };
  assert.match(String(await refusal(to, wrong)), /^1,petstore-client: The API key .*\n$/);
  const odd = await refusal([...to, '--type', 'pet.sold'], await variablesOf(service));
  assert.match(String(odd), /^1,petstore-client: The parameter type .*\n$/);
});

test('the types and all examples compile in strict TypeScript 5.0 and 7', async (t) => {
  const project = await projectWithClient(t);
  const service = await startTestService(t);
  project.write('typed.ts', TYPED);
  for (const [index, { code }] of examples.entries()) project.write(`example-${index}.ts`, code);
  for (const [version, compiler] of [
    ['5.0.4', TYPESCRIPT_5],
    ['7.0.2', 'tsc'],
  ] as const) {
    assert.equal(await project.run(compiler, ['--version']), `Version ${version}\n`);
    for (const [module, resolution] of [
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ] as const) {
      project.write('tsconfig.json', typescriptOptions(module, resolution));
      await project.run(compiler, ['--project', '.']);
    }
  }
  const printed = await project.run(NODE_20, ['bundler/typed.js'], await variablesOf(service));
  assert.match(
    printed,
    /^1 201\nRex \d+ 1\ntrue RateLimitError\nfalse\n0 undefined\n\[ 'Rex' \] true\n0 true\n$/,
  );
});

test('the examples of the README print what it says, on Node.js 20.0 and now', async (t) => {
  const project = await projectWithClient(t);
  assert.match(await project.run(NODE_20, ['--version']), /^v20\./);
  assert.ok(examples.length >= 4);
  for (const node of [NODE_20, execPath]) {
    const service = await startTestService(t);
    const variables = await variablesOf(service);
    for (const { code, output } of examples) {
      project.write('example.js', code);
      assert.equal(await project.run(node, ['example.js'], variables), output);
    }
  }
});
