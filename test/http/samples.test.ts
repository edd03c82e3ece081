// Contract: section 3.
import assert from 'node:assert/strict';
import { execPath } from 'node:process';
import type { TestContext } from 'node:test';
import { inspect } from 'node:util';
import { openApi } from '../../src/description/openapi.ts';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { type Answer, call } from '../support/api.ts';
import { EXAMPLE_ENDPOINT, exampleDatabase } from '../support/example-database.ts';
import { type Lifetime, lifetimeOfFile } from '../support/lifetime.ts';
import { projectWithClient } from '../support/packed-client.ts';
import { runPython, runShell, withoutKeys } from '../support/samples.ts';
import type { TestService } from '../support/service.ts';
import { test } from '../support/test.ts';

const file = lifetimeOfFile();
const database = await exampleDatabase(file);

interface Samples {
  readonly id: string;
  readonly curl: string;
  readonly TypeScript: string;
  readonly Python: string;
}

/** The code samples that the reference of a running service shows. */
function samplesOf(service: TestService): readonly Samples[] {
  const base = `${service.url}/v1`;
  const { document } = openApi({ production: base }, base);
  const operations = Object.values<any>(document.paths).flatMap((item) => Object.values<any>(item));
  return operations.map(({ operationId: id, 'x-codeSamples': samples }) =>
    Object.assign(
      { id },
      ...samples.map(({ label, source }: any) => ({
        // Its name resolves nowhere.
        [label]: source.replaceAll('https://shop.example', EXAMPLE_ENDPOINT),
      })),
    ),
  );
}

/** What the API answers to the request of a sample in curl. */
async function request(service: TestService, key: string, curl: string): Promise<Answer> {
  const [, method = 'GET', address = ''] = /^curl (?:-X (\w+) )?'([^']+)'/.exec(curl) ?? [];
  const [, type] = /-H 'Content-Type: ([^']+)'/.exec(curl) ?? [];
  const [, body] = /-d '([^']+)'/.exec(curl) ?? [];
  const { pathname, search } = new URL(address);
  const sent = body === undefined || type === undefined ? {} : { body, headers: { 'content-type': type } };
  return await call(service.url, pathname + search, {
    key,
    method: body !== undefined && method === 'GET' ? 'POST' : method,
    ...sent,
  });
}

const isUsage = ({ id }: { readonly id: string }) => id === 'getUsage';
const isChange = ({ method }: { readonly method: string }) => method === 'PATCH' || method === 'DELETE';

/**
 * The operations that share a service. The usage counts the requests before it. An animal that was ordered cannot
 * be changed, and an order that was completed cannot be cancelled.
 */
const GROUPS = [
  OPERATIONS.filter(isUsage),
  OPERATIONS.filter((each) => !isUsage(each) && !isChange(each)),
  OPERATIONS.filter(isChange),
];

/** Calls `use` with the samples of each group and a service in which the things of their examples exist. */
async function eachGroup(
  lifetime: Lifetime,
  use: (samples: readonly Samples[], service: TestService) => Promise<void>,
): Promise<void> {
  for (const operations of GROUPS) {
    const service = await database.start(lifetime);
    const samples = new Map(samplesOf(service).map((each) => [each.id, each]));
    assert.deepEqual([...samples.keys()].toSorted(), OPERATIONS.map(({ id }) => id).toSorted());
    await use(
      operations.map(({ id }) => samples.get(id) ?? assert.fail(id)),
      service,
    );
  }
}

/** What each sample must print as JSON: the answer of another service, on a copy of the same database, to its request. */
const answers = new Map<string, Pick<Answer, 'status' | 'text'>>();
await eachGroup(file, async (samples, service) => {
  for (const { id, curl } of samples) {
    const { status, text } = await request(service, database.key, curl);
    assert.ok(status < 300, `${id} ${text}`);
    answers.set(id, { status, text: withoutKeys(text) });
  }
});

/** Runs `print` on the samples of each group, and `check` on what each prints and what the API answers. */
function checkSamples(
  t: TestContext,
  print: (samples: readonly Samples[], key: string) => Promise<readonly string[]>,
  check: (printed: string, answer: Pick<Answer, 'status' | 'text'>) => void,
): Promise<void> {
  return eachGroup(t, async (samples) => {
    const printed = await print(samples, database.key);
    assert.equal(printed.length, samples.length);
    for (const [index, { id }] of samples.entries())
      check(withoutKeys(printed[index] as string), answers.get(id) ?? assert.fail(id));
  });
}

/** Runs one sample after the other, each in a process of its own. */
async function runEach(
  samples: readonly Samples[],
  runOne: (sample: Samples) => Promise<string>,
): Promise<readonly string[]> {
  const printed: string[] = [];
  for (const sample of samples) printed.push(await runOne(sample));
  return printed;
}

test('the curl sample of every operation prints what the API answers', (t) =>
  checkSamples(
    t,
    (samples, key) => runEach(samples, ({ curl }) => runShell(curl, key)),
    (printed, { text }) => assert.equal(printed, text),
  ));

/** A value of JSON as Python prints it. */
function writePython(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", String.raw`\'`)}'`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(writePython).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([name, member]) => `'${name}': ${writePython(member)}`);
  return `{${members.join(', ')}}`;
}

test('the Python samples print what the API answers with the standard library alone', (t) =>
  checkSamples(
    t,
    (samples, key) => runEach(samples, ({ Python }) => runPython(Python, key)),
    (printed, { status, text }) =>
      assert.equal(printed, `${status === 204 ? status : writePython(JSON.parse(text))}\n`),
  ));

test('the TypeScript samples print what the API answers with the published client', async (t) => {
  const project = await projectWithClient(t);
  // One process for all modules of a group: to start one takes longer than most samples.
  const print = async (samples: readonly Samples[], key: string) => {
    for (const { id, TypeScript } of samples) project.write(`${id}.mts`, TypeScript);
    const runs = samples.map(({ id }) => `await import('./${id}.mts');\nprocess.stdout.write('\\0');\n`);
    project.write('all.mjs', runs.join(''));
    const printed = await project.run(execPath, ['all.mjs'], { PETSTORE_API_KEY: key });
    return printed.split('\0').slice(0, -1);
  };
  await checkSamples(t, print, (printed, { text }) => {
    if (text === '') {
      assert.equal(printed, '');
      return;
    }
    const answer = JSON.parse(text) as object;
    if (!Array.isArray(answer)) {
      assert.equal(printed, `${inspect(answer)}\n`);
      return;
    }
    const isPage = printed.includes('nextCursor');
    if (isPage) assert.ok(answer.length > 0);
    const line = (shown: string) => shown.replaceAll(/\s+/g, ' ');
    for (const item of answer) assert.ok(line(printed).includes(line(inspect(item, { depth: 0 }))), printed);
    if (isPage) assert.equal(printed.match(/\bid: \d+|\brequestId: /g)?.length, answer.length);
  });
});

test('a Python sample prints the message of a refusal', async (t) => {
  const service = await database.start(t);
  const { Python } = samplesOf(service).find(({ id }) => id === 'listPets') ?? assert.fail();
  await assert.rejects(runPython(Python, 'petstore_live_wrong'), /malformed or mistyped/);
});
