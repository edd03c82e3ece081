// The code samples of the guide, run against a service.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { text as readText } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { signMessage } from '../../src/resources/webhooks/message.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { projectWithClient } from '../support/packed-client.ts';
import { type Running, waitFor, watch } from '../support/process.ts';
import { findCurl, findPython, runPython, runShell } from '../support/samples.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { MissingProgram } from '../support/servers.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { test } from '../support/test.ts';
import { CLIENT } from '../support/store.ts';

const LANGUAGES = ['sh', 'typescript', 'python'] as const;
type Language = (typeof LANGUAGES)[number];

/** The code of a page of the guide, as a running service describes it, with its languages. */
async function codeOf(service: TestService, heading: string): Promise<readonly [string, string][]> {
  const { text: guide } = await call(service.url, '/reference.md');
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

/** What a sample writes, also if it fails. */
async function writtenBy(...run: Parameters<typeof runSample>): Promise<string> {
  try {
    return await runSample(...run);
  } catch (error) {
    if (error instanceof MissingProgram) throw error;
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}${String(error)}`;
  }
}

test('the samples of Idempotency in all languages are one request', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const samples = await samplesOf(service, 'Idempotency');
  for (const language of LANGUAGES)
    assert.match(await runSample(t, language, samples.get(language) ?? '', key), /Rex/);
  assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 1);
});

for (const language of LANGUAGES) {
  test(`each sample of the guide in ${language} shows the message of a refusal`, async (t) => {
    const service = await startTestService(t);
    for (const heading of [
      'Quick start',
      'Backing off',
      'Paging',
      'Idempotency',
      'Adopt an animal',
      'Your account',
    ]) {
      const source = (await samplesOf(service, heading)).get(language) ?? assert.fail(heading);
      assert.match(
        await writtenBy(t, language, source, 'petstore_live_wrong'),
        /malformed or mistyped/,
        heading,
      );
    }
  });

  test(`the sample of Quick start in ${language} can be run twice, also in a shop with categories`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    for (const name of ['Cats', 'Dogs'])
      await call(service.url, '/v1/categories', { key, body: `{"name":"${name}"}` });
    const source = (await samplesOf(service, 'Quick start')).get(language) ?? assert.fail();
    for (let times = 1; times <= 2; times++) {
      assert.match(await runSample(t, language, source, key), /Luna/);
      assert.equal((await call(service.url, '/v1/pets', { key })).json.length, times);
    }
  });

  const sample = async (service: TestService, heading: string) =>
    (await samplesOf(service, heading)).get(language) ??
    assert.fail(`${heading} has no sample in ${language}`);

  test(`the sample of Paging in ${language} reads every animal once`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    const { pets } = service.store;
    const numbers = Array.from({ length: 250 }, (_, index) => index + 1);
    await Promise.all(numbers.map((count) => pets.create(CLIENT, { name: `Pet ${count}.`, categoryId: 7n })));
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

/** Starts a sample of a page that does not end by itself. It is killed after the test. */
function startSample(
  t: TestContext,
  language: Language,
  source: string,
  variables: Record<string, string>,
): Running {
  const file = `sample-${randomUUID()}.mts`;
  if (language === 'typescript') project.write(file, source);
  if (language === 'sh') findCurl();
  const folder = temporaryFolder(t);
  const [program, args] = {
    typescript: [execPath, [file]] as const,
    sh: ['sh', ['-c', `cd '${folder}'\n${source}`]] as const,
    python: [language === 'python' ? findPython() : '', ['-c', source]] as const,
  }[language];
  const running = watch(project.start(program, args, variables));
  t.after(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  return running;
}

/** Waits until a process has written exactly these lines. */
async function assertLines(running: Running, lines: readonly string[]): Promise<void> {
  const expected = lines.map((line) => `${line}\n`).join('');
  await waitFor(running, ({ stdout }) => (stdout.length < expected.length ? undefined : true));
  assert.equal(running.stdout(), expected);
}

const KEEP = 'Keep a copy in step';

for (const language of ['typescript', 'python'] as const)
  test(`the sample of ${KEEP} in ${language} follows the feed, and lists again when its place is gone`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    const send = (method: string, path: string, body?: string) =>
      call(service.url, `/v1/pets${path}`, { key, method, ...(body !== undefined && { body }) });
    const add = () => send('POST', '', '{"name":"Rex","categoryId":7}');
    await add();
    await add();
    const source = (await samplesOf(service, KEEP)).get(language) ?? '';
    const running = startSample(t, language, source, { PETSTORE_API_KEY: key });
    const lines = ['The copy has 2 animals.'];
    await assertLines(running, lines);
    await send('PATCH', '/1', '{"name":"Max"}');
    await send('DELETE', '/2');
    await add();
    lines.push('pet.updated: the copy has 2 animals.');
    lines.push('pet.deleted: the copy has 1 animals.');
    lines.push('pet.created: the copy has 2 animals.');
    await assertLines(running, lines);
    await service.store.events.beginFeed('0123456789ab');
    // If the sample waits, this wakes it. Otherwise both its list and the feed can have this animal.
    await add();
    await waitFor(running, ({ stdout }) => stdout.match(/The copy has/g)?.[1]);
    await add();
    await waitFor(running, ({ stdout }) => /pet.created: the copy has 4 animals.\n$/.exec(stdout)?.[0]);
  });

test(`the sample of ${KEEP} in sh prints every animal, then each event, and says why it ends`, async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const add = (name: string) =>
    call(service.url, '/v1/pets', { key, body: JSON.stringify({ name, categoryId: 7 }) });
  for (let count = 0; count < 101; count++) await add(`First ${count}.`);
  const running = startSample(t, 'sh', (await samplesOf(service, KEEP)).get('sh') ?? '', {
    PETSTORE_API_KEY: key,
  });
  await waitFor(running, ({ stdout }) => (stdout.match(/First \d+\./g)?.length === 101 ? true : undefined));
  await add('Later.');
  await waitFor(running, ({ stdout }) => /"pet\.created".*"Later\."/.exec(stdout)?.[0]);
  await service.store.events.beginFeed('0123456789ab');
  await add('Last.');
  const { code, stdout } = await running.ended;
  assert.equal(code, 1);
  assert.match(stdout, /"cursor_expired"/);
});

/** Seconds for which a sample follows the feed of a shelter where nothing happens. */
const IDLE = 120;

/** More requests than that in this time are a busy loop. */
const BUSY = 10;

/** Runs before a sample, so that its pauses move the clock of the test: `PAUSES` is where they are told. */
const HURRIED: Readonly<Record<Language, string>> = {
  sh: 'sleep() { curl --silent "$PAUSES?seconds=$1"; }\n',
  python: `import os, time, urllib.request
time.sleep = lambda seconds: urllib.request.urlopen(f"{os.environ['PAUSES']}?seconds={seconds}").read()
`,
  typescript: `const { fetch: send } = globalThis;
const now = performance.now.bind(performance);
let ahead = 0;
performance.now = () => now() + ahead;
globalThis.fetch = async (...request) => {
  const response = await send(...request);
  ahead += Number(response.headers.get('x-waited')) * 1000;
  return response;
};
`,
};

/**
 * The service behind a proxy that does not wait: where the service would wait for an event, the clock moves. \`over\`: the time is over,
 * or there were too many requests. From then on it answers nothing.
 */
async function startHurriedService(t: TestContext, service: TestService) {
  const requests: string[] = [];
  let seconds = 0;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { url = '', headers } = request;
    const address = new URL(url, service.url);
    if (address.pathname === '/pauses') {
      seconds += Number(address.searchParams.get('seconds'));
      return response.end();
    }
    if (seconds >= IDLE || requests.length > BUSY) return resolve();
    requests.push(url);
    const wait = Number(address.searchParams.get('wait') ?? 0);
    if (wait > 0) address.searchParams.set('wait', '0');
    const { authorization = '' } = headers;
    const real = await fetch(address, { headers: { authorization } });
    const body = await real.text();
    const waited = body === '[]' && address.searchParams.get('after') !== 'now' ? wait : 0;
    seconds += waited;
    const link = (real.headers.get('link') ?? '').replace(service.url, own).replace('wait=0', `wait=${wait}`);
    const fields = {
      'content-type': 'application/json',
      'x-waited': String(waited),
      ...(link !== '' && { link }),
    };
    response.writeHead(real.status, fields).end(body);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: own, requests, over };
}

for (const language of LANGUAGES)
  test(`the sample of ${KEEP} in ${language} asks at most every 30 seconds while nothing happens`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    const hurried = await startHurriedService(t, service);
    const source = (await samplesOf(service, KEEP)).get(language) ?? '';
    const addressed = HURRIED[language] + source.replaceAll(service.url, hurried.url);
    const variables = { PETSTORE_API_KEY: key, PAUSES: `${hurried.url}/pauses` };
    const running = startSample(t, language, addressed, variables);
    await Promise.race([hurried.over, running.ended]);
    const { requests } = hurried;
    assert.equal(running.stderr(), '');
    assert.ok(requests.filter((path) => path.includes('wait=30')).length >= 4, requests.join('\n'));
    // The place, the list, and the waits.
    assert.ok(requests.length <= 2 + IDLE / 30 + 1, requests.join('\n'));
  });

/** A webhook as the service sends it, with the secret that signs it. */
async function receiveWebhook(t: TestContext) {
  // The samples compare the time of a webhook with their own clock.
  const service = await startTestService(t, {
    clock: fakeClock(Date.now()),
    env: { WEBHOOKS_ALLOW_PRIVATE: 'true' },
  });
  const key = await service.issueKey();
  const endpoint = createServer().listen(0, '127.0.0.1');
  t.after(() => endpoint.close());
  await once(endpoint, 'listening');
  const { port } = endpoint.address() as AddressInfo;
  const { json } = await call(service.url, '/v1/webhooks', {
    key,
    body: `{"url":"http://127.0.0.1:${port}/"}`,
  });
  const arrived = once(endpoint, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const tested = call(service.url, `/v1/webhooks/${json.id}/test`, { key, method: 'POST' });
  const [request, response] = await arrived;
  const { headers } = request;
  const body = await readText(request);
  response.writeHead(204).end();
  await tested;
  const signed = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  );
  return {
    samples: await samplesOf(service, 'Receive webhooks'),
    secret: json.secret as string,
    headers: signed as Record<string, string>,
    body,
  };
}

type Received = Awaited<ReturnType<typeof receiveWebhook>>;

/** What is sent, and whether it is a webhook of the service. */
function variants(secret: string, { headers, body }: Pick<Received, 'headers' | 'body'>) {
  const id = headers['webhook-id'] ?? '';
  const sign = (unix: number) => ({ headers: signMessage({ id, body, secrets: [secret] }, unix), body });
  const change = (name: string, edit: (value: string) => string) => ({
    headers: { ...headers, [name]: edit(headers[name] ?? '') },
    body,
  });
  return [
    [{ headers, body }, true],
    [change('webhook-signature', (signature) => `v1,QUJD ${signature}`), true],
    [{ headers, body: body.replace('test', 'tset') }, false],
    [change('webhook-id', (value) => `${value}0`), false],
    [sign(Date.now() - 290_000), true],
    [sign(Date.now() - 310_000), false],
    [sign(Date.now() + 310_000), false],
    [change('webhook-timestamp', (timestamp) => `${timestamp}x`), false],
    [change('webhook-signature', () => ''), false],
  ] as const;
}

test('the sample of Receive webhooks in typescript takes each webhook once, and nothing else', async (t) => {
  const { samples, secret, ...received } = await receiveWebhook(t);
  const source = (samples.get('typescript') ?? '').replace(
    '.listen(3000)',
    '.listen(0, function () { console.log(this.address().port); })',
  );
  const running = startSample(t, 'typescript', source, { WEBHOOK_SECRET: secret });
  const port = await waitFor(running, ({ stdout }) => /^(\d+)\n/.exec(stdout)?.[1]);
  for (const [{ headers, body }, isGenuine] of variants(secret, received)) {
    const { status } = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body });
    assert.equal(status, isGenuine ? 204 : 400, JSON.stringify(headers));
  }
  assert.equal(running.stdout(), `${port}\nwebhook.test ${received.headers['webhook-id']}\n`);
});

test('the sample of Receive webhooks in python tells a webhook from what is none', async (t) => {
  const { samples, secret, ...received } = await receiveWebhook(t);
  const calls = variants(secret, received).map(([{ headers, body }]) => {
    const values = [JSON.stringify(body), JSON.stringify(headers), JSON.stringify(secret)] as const;
    return `print(verify(${values[0]}.encode(), ${values[1]}, ${values[2]}))\n`;
  });
  const printed = await runPython(`${samples.get('python')}${calls.join('')}print(verify(b"", {}, ""))`, '');
  const expected = [...variants(secret, received).map(([, isGenuine]) => isGenuine), false];
  assert.deepEqual(
    printed.trim().split('\n'),
    expected.map((is) => (is ? 'True' : 'False')),
  );
});

test('the sample of Receive webhooks in sh tells a webhook from what is none', async (t) => {
  const { samples, secret, ...received } = await receiveWebhook(t);
  const folder = temporaryFolder(t);
  for (const [{ headers, body }, isGenuine] of variants(secret, received)) {
    writeFileSync(join(folder, 'body.json'), body);
    const quoted = [
      secret,
      headers['webhook-id'],
      headers['webhook-timestamp'],
      headers['webhook-signature'],
    ];
    const [WEBHOOK_SECRET, id, timestamp, signature] = quoted.map((value) => `'${value}'`);
    const variables = `WEBHOOK_SECRET=${WEBHOOK_SECRET} id=${id} timestamp=${timestamp} signature=${signature}`;
    const running = runShell(`cd '${folder}'\n${variables}\n${samples.get('sh')}`, '');
    if (isGenuine) assert.equal(await running, 'verified\n');
    else await assert.rejects(running, { code: 1 }, JSON.stringify(headers));
  }
});
