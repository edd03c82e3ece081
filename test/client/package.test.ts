import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { execPath } from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NODE_20, projectWithClient } from '../support/packed-client.ts';
import { startTestService } from '../support/service.ts';

const readme = readFileSync(new URL('../../client/README.md', import.meta.url), 'utf8');

/** The examples of the README, each with the output that it shows. */
const examples = [...readme.matchAll(/```js\n(.*?)```\n\n```\n(.*?)```/gs)].map(
  ([, code = '', output = '']) => ({
    code,
    output,
  }),
);

const TYPED = `
import { type Int64, type Pet, type PetPage, PetStore, RateLimitError } from 'petstore-client';

const client = new PetStore({ apiKey: process.env['PETSTORE_KEY'] ?? '', baseUrl: process.env['PETSTORE_URL'], pace: true });
const pet: Pet = await client.pets.create({ name: 'Rex', categoryId: 2n ** 60n, status: 'sold' });
const id: Int64 = pet.id;
const page: PetPage = await client.pets.list({ limit: 1, status: 'sold' }, { signal: AbortSignal.timeout(60_000) });
for await (const { name } of client.pets.list()) console.log(name, id, page.pets.length);
console.log(client.rateLimit?.remaining !== undefined, RateLimitError.name);
// @ts-expect-error: not a status
client.pets.list({ status: 'lost' });
// @ts-expect-error: an animal has a category
if (id === 0) await client.pets.create({ name: 'Rex' });
`;

function typescriptOptions(module: string, moduleResolution: string): string {
  return JSON.stringify({
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      target: 'es2022',
      module,
      moduleResolution,
      outDir: moduleResolution,
      types: ['node'],
      typeRoots: [fileURLToPath(new URL('../../node_modules/@types', import.meta.url))],
    },
    files: ['typed.ts'],
  });
}

test('the package works in JavaScript and strict TypeScript, on Node.js 20.0 and now', async (t) => {
  const project = await projectWithClient(t);
  const service = await startTestService(t);
  const variables = async () => ({
    PETSTORE_KEY: await service.issueKey(),
    PETSTORE_URL: `${service.url}/v1`,
  });

  assert.match(await project.run(NODE_20, ['--version']), /^v20\./);
  assert.deepEqual(
    project.files.filter((file) => !/^dist\/[a-z-]+\.(?:js|d\.ts)$/.test(file)),
    ['LICENSE', 'README.md', 'package.json'],
  );

  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    project.write('typed.ts', TYPED);
    project.write('tsconfig.json', typescriptOptions(module, resolution));
    await project.run('tsc', ['--project', '.']);
    const printed = await project.run(NODE_20, [`${resolution}/typed.js`], await variables());
    assert.match(printed, /^Rex \d+ 1\n(?:Rex \d+ 1\n)*true RateLimitError\n$/);
  }
});

test('the examples of the README print what it says', async (t) => {
  const project = await projectWithClient(t);
  assert.ok(examples.length >= 4);
  for (const node of [NODE_20, execPath]) {
    const service = await startTestService(t);
    const variables = { PETSTORE_KEY: await service.issueKey(), PETSTORE_URL: `${service.url}/v1` };
    for (const { code, output } of examples) {
      project.write('example.js', code);
      assert.equal(await project.run(node, ['example.js'], variables), output);
    }
  }
});
