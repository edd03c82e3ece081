// Contract: section 3.
import assert from 'node:assert/strict';
import { execPath } from 'node:process';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { OPERATIONS } from '../../src/api/index.ts';
import { call } from '../support/api.ts';
import { projectWithClient } from '../support/packed-client.ts';
import { runPython, runShell } from '../support/samples.ts';
import { startTestService, type TestService } from '../support/service.ts';

interface Samples {
  readonly id: string;
  readonly curl: string;
  readonly TypeScript: string;
  readonly Python: string;
}

/** The code samples that the description of a running service shows. */
async function samplesOf(service: TestService): Promise<readonly Samples[]> {
  const { json } = await call(service.url, '/openapi.json');
  const operations = Object.values<any>(json.paths).flatMap((item) => Object.values<any>(item));
  return operations.map(({ operationId: id, 'x-codeSamples': samples }) =>
    Object.assign({ id }, ...samples.map(({ label, source }: any) => ({ [label]: source }))),
  );
}

/** Adds 42 of each thing, so that the one that is asked for is there, by all examples of its body in turn. */
async function seed(service: TestService, key: string): Promise<void> {
  for (const { path, body } of OPERATIONS) {
    if (body === undefined) continue;
    const examples = Object.values(body.examples);
    for (let count = 1; count <= 42; count++) {
      const { value } = examples[count % examples.length] ?? assert.fail('no example');
      assert.equal((await call(service.url, `/v1${path}`, { key, body: JSON.stringify(value) })).status, 201);
    }
  }
}

/** What a sample must print as JSON: the answer to its request, with the id before for a thing that was added. */
async function expected(service: TestService, key: string, curl: string): Promise<string> {
  const [, address = ''] = /^curl '([^']+)'/.exec(curl) ?? [];
  const [, body] = /-d '([^']+)'/.exec(curl) ?? [];
  const { pathname, search } = new URL(address);
  const { text, json } = await call(
    service.url,
    pathname + search,
    body === undefined ? { key } : { key, body },
  );
  return body === undefined ? text : text.replace(`"id":${json.id}`, `"id":${json.id - 1}`);
}

/** Runs `print` on the samples of every operation, and `check` on what it prints and what the API answers. */
async function checkSamples(
  t: TestContext,
  print: (samples: Samples, key: string) => Promise<string>,
  check: (printed: string, json: string) => void,
): Promise<void> {
  const service = await startTestService(t);
  const key = await service.issueKey();
  await seed(service, key);
  const all = await samplesOf(service);
  assert.deepEqual(all.map(({ id }) => id).toSorted(), OPERATIONS.map(({ id }) => id).toSorted());
  for (const samples of all) {
    const printed = await print(samples, key);
    check(printed, await expected(service, key, samples.curl));
  }
}

test('the curl sample of every operation prints what the API answers', (t) =>
  checkSamples(t, ({ curl }, key) => runShell(curl, key), assert.equal));

test('the Python samples print what the API answers with the standard library alone', (t) =>
  checkSamples(
    t,
    ({ Python }, key) => runPython(Python, key),
    (printed, json) => {
      const text = json
        .replaceAll('"', "'")
        .replaceAll("':", "': ")
        .replaceAll(/,(?=['{])/g, ', ');
      assert.equal(printed, `${text}\n`);
    },
  ));

test('the TypeScript samples print what the API answers with the published client', async (t) => {
  const project = await projectWithClient(t);
  const print = ({ TypeScript }: Samples, key: string) => {
    project.write('sample.mts', TypeScript);
    return project.run(execPath, ['sample.mts'], { PETSTORE_API_KEY: key });
  };
  await checkSamples(t, print, (printed, json) => {
    const answer = JSON.parse(json) as object;
    if (!Array.isArray(answer)) {
      assert.equal(printed, `${inspect(answer)}\n`);
      return;
    }
    assert.equal(answer.length, 20);
    for (const item of answer) assert.ok(printed.includes(inspect(item)), printed);
    assert.equal(printed.match(/\bid: \d+/g)?.length, 20);
  });
});
