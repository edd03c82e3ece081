import assert from 'node:assert/strict';
import { execPath } from 'node:process';
import { test } from 'node:test';
import { call } from '../support/api.ts';
import { projectWithClient } from '../support/packed-client.ts';
import { runPython, runShell } from '../support/samples.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The code samples that the description of a running service shows, by operation and label. */
async function samplesOf(service: TestService): Promise<Record<string, Record<string, string>>> {
  const { json } = await call(service.url, '/openapi.json');
  const operations = Object.values<any>(json.paths).flatMap((item) => Object.values<any>(item));
  return Object.fromEntries(
    operations.map(({ operationId, 'x-codeSamples': samples }) => [
      operationId,
      Object.fromEntries(samples.map(({ label, source }: any) => [label, source])),
    ]),
  );
}

/** 42 animals, so that the one that is asked for is there. */
async function seed(service: TestService, key: string): Promise<void> {
  for (let count = 1; count <= 42; count++) {
    const body = `{"name":"Rex","categoryId":7,"status":"${count % 2 === 0 ? 'available' : 'sold'}"}`;
    assert.equal((await call(service.url, '/v1/pets', { key, body })).status, 201);
  }
}

test('the samples in curl print what the API answers, as they stand in the reference', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  await seed(service, key);
  const { listPets, createPet, getPet } = await samplesOf(service);
  const listed = JSON.parse(await runShell(listPets?.['curl'] ?? '', key));
  const { json } = await call(service.url, '/v1/pets?limit=20&status=available', { key });
  assert.equal(listed.length, 20);
  assert.deepEqual(listed, json);
  const created = await runShell(createPet?.['curl'] ?? '', key);
  assert.equal(created, '{"id":43,"name":"Rex","categoryId":7,"status":"available"}');
  const got = await runShell(getPet?.['curl'] ?? '', key);
  assert.equal(got, '{"id":42,"name":"Rex","categoryId":7,"status":"available"}');
});

test('the samples in Python need the standard library alone and print what the API answers', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  await seed(service, key);
  const { listPets, createPet, getPet } = await samplesOf(service);
  const listed = await runPython(listPets?.['Python'] ?? '', key);
  assert.equal(listed.match(/'id': \d+/g)?.length, 20);
  assert.match(listed, /^\[\{'id': 42, 'name': 'Rex', 'categoryId': 7, 'status': 'available'\}, /);
  const created = await runPython(createPet?.['Python'] ?? '', key);
  assert.equal(created, "{'id': 43, 'name': 'Rex', 'categoryId': 7, 'status': 'available'}\n");
  const got = await runPython(getPet?.['Python'] ?? '', key);
  assert.equal(got, "{'id': 42, 'name': 'Rex', 'categoryId': 7, 'status': 'available'}\n");
});

test('the samples in TypeScript print what the API answers, with the client as it is published', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  await seed(service, key);
  const project = await projectWithClient(t);
  const { listPets, createPet, getPet } = await samplesOf(service);
  const print = async (samples: Record<string, string> | undefined) => {
    project.write('sample.mts', samples?.['TypeScript'] ?? '');
    return project.run(execPath, ['sample.mts'], { PETSTORE_API_KEY: key });
  };
  const listed = await print(listPets);
  assert.equal(listed.match(/id: \d+/g)?.length, 20);
  assert.match(listed, /\{ id: 42, name: 'Rex', categoryId: 7, status: 'available' \}/);
  assert.equal(await print(createPet), "{ id: 43, name: 'Rex', categoryId: 7, status: 'available' }\n");
  assert.equal(await print(getPet), "{ id: 42, name: 'Rex', categoryId: 7, status: 'available' }\n");
});
