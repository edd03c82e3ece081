// The code samples of the guide, run against a service.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import type { TestContext } from 'node:test';
import { call } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { projectWithClient } from '../support/packed-client.ts';
import { runPython, runShell } from '../support/samples.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/shared-counting.ts';
import { MissingProgram } from '../support/servers.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { test } from '../support/test.ts';

const LANGUAGES = ['sh', 'typescript', 'python'] as const;
type Language = (typeof LANGUAGES)[number];

/** The code of a page of the guide, as a running service describes it, with its languages. */
async function codeOf(service: TestService, heading: string): Promise<readonly [string, string][]> {
  const { json } = await call(service.url, '/openapi.json');
  const guide = json.info.description as string;
  const [, page = ''] = guide.split(`## ${heading}\n`);
  const [text = ''] = page.split(/^## /m);
  const blocks = text.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return Array.from(blocks, ([, language = '', source = '']) => [language, source]);
}

/** The sample of a page in each language. */
async function samplesOf(service: TestService, heading: string): Promise<ReadonlyMap<string, string>> {
  return new Map(await codeOf(service, heading));
}

/** The steps of a page, in their order. */
async function blocksOf(service: TestService, heading: string): Promise<readonly string[]> {
  return (await codeOf(service, heading)).map(([, source]) => source);
}

/** Every TypeScript sample runs in it, because packing the client takes longer than all the samples. */
const project = await projectWithClient(lifetimeOfFile());

/** Runs a sample with the key in the environment, and gives what it prints. */
async function runSample(t: TestContext, language: Language, source: string, key: string): Promise<string> {
  if (language === 'sh') return await runShell(`cd '${temporaryFolder(t)}'\n${source}`, key);
  if (language === 'python') return await runPython(source, key);
  project.write('sample.mts', source);
  return await project.run(execPath, ['sample.mts'], { PETSTORE_API_KEY: key });
}

for (const language of LANGUAGES) {
  const sample = async (service: TestService, heading: string) =>
    (await samplesOf(service, heading)).get(language) ??
    assert.fail(`${heading} has no sample in ${language}`);

  test(`the sample of Paging in ${language} reads every animal once`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    const { pets } = service.store;
    const numbers = Array.from({ length: 250 }, (_, index) => index + 1);
    await Promise.all(numbers.map((count) => pets.create({ name: `Pet ${count}.`, categoryId: 7n })));
    const printed = await runSample(t, language, await sample(service, 'Paging'), key);
    const names = Array.from(printed.matchAll(/Pet (\d+)\./g), ([, count]) => Number(count));
    assert.deepEqual(names, numbers.toReversed());
  });

  test(`the sample of Your account in ${language} shows what is left of both windows`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey({ limits: { perMinute: 60, perDay: 1_000 } });
    const printed = await runSample(t, language, await sample(service, 'Your account'), key);
    if (language === 'sh') assert.deepEqual(JSON.parse(printed).limits, { perMinute: 60, perDay: 1_000 });
    else assert.equal(printed, 'Plan enterprise: 60 left this minute, 1000 left today.\n');
  });

  test(`the sample of Adopt an animal in ${language} orders an animal and completes the order`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    for (const status of ['available', 'sold'])
      await call(service.url, '/v1/pets', {
        key,
        body: `{"name":"Rex","categoryId":7,"status":"${status}"}`,
      });
    const printed = await runSample(t, language, await sample(service, 'Adopt an animal'), key);
    assert.match(printed, /complete/);
    if (language !== 'sh') assert.match(printed, /^Rex is held until 2026-11-24T12:00:00\.000Z\.$/m);
    const { json } = await call(service.url, '/v1/store/orders', { key });
    assert.deepEqual([json[0].petId, json[0].status], [1, 'complete']);
    assert.equal((await call(service.url, '/v1/pets?id=1', { key })).json[0].status, 'sold');
  });

  test(`the sample of Idempotency in ${language}, run twice, adds one animal`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    const source = await sample(service, 'Idempotency');
    const first = await runSample(t, language, source, key);
    assert.match(first, /Rex/);
    assert.equal(await runSample(t, language, source, key), first);
    const { json } = await call(service.url, '/v1/pets', { key });
    assert.equal(json.length, 1);
  });

  test(`the sample of Backing off in ${language} waits for the next minute`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey({ limits: { perMinute: 1, perDay: 100 } });
    await call(service.url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":7}' });
    // The sample is told to wait for the last second of the minute. The minute ends when it has been told.
    service.clock.advance(59_000);
    const running = runSample(t, language, await sample(service, 'Backing off'), key);
    const refusal = async () => {
      await until(() => service.log.some(({ status }) => status === 429));
      service.clock.advance(1_000);
    };
    const [printed] = await Promise.all([running, refusal()]);
    assert.match(printed, /Rex/);
    assert.equal(service.log.filter(({ status }) => status === 429).length, 1);
  });

  test(`the sample of Backing off in ${language} gives up when the day is used up`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey({ limits: { perMinute: 10, perDay: 1 } });
    await call(service.url, '/v1/pets', { key });
    const running = runSample(t, language, await sample(service, 'Backing off'), key);
    const said = await running.catch((error: unknown) => {
      if (error instanceof MissingProgram) throw error;
      return String(error);
    });
    assert.match(said, /429|used up/);
    assert.doesNotMatch(said, /undefined/);
    assert.equal(service.log.filter(({ status }) => status === 429).length, 1);
  });
}

test('the steps of Roll your keys replace a key', async (t) => {
  const service = await startTestService(t);
  const manager = await service.issueKey();
  const old = await service.issueKey({ scopes: ['pets:read'] });
  const [list = '', create = '', revoke = '', ...more] = await blocksOf(service, 'Roll your keys');
  assert.deepEqual(more, []);
  const folder = temporaryFolder(t);
  const step = (source: string) => runShell(`cd '${folder}'\nOLD_KEY_ID=2\n${source}`, manager);
  const listed = JSON.parse(await step(list)) as { id: number; ending: string }[];
  assert.equal(listed.find(({ ending }) => ending === old.slice(-4))?.id, 2);
  assert.equal(await step(create), '');
  const file = join(folder, 'new-key.json');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { key } = JSON.parse(readFileSync(file, 'utf8')) as { key: string };
  const statusOf = async (its: string) => (await call(service.url, '/v1/pets', { key: its })).status;
  assert.deepEqual([await statusOf(old), await statusOf(key)], [200, 200]);
  assert.equal(await step(revoke), '');
  assert.deepEqual([await statusOf(old), await statusOf(key)], [401, 200]);
});
