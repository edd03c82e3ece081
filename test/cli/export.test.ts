// Contract: section 8.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { foldedName } from '../../src/domain/text.ts';
import type { NewPet } from '../../src/resources/pets/schema.ts';
import { petJson } from '../../src/resources/pets/table.ts';
import { anyCharacter } from '../support/characters.ts';
import { PROGRAM, run, runJson, start, temporaryEnvironment } from '../support/process.ts';

const HARD: readonly Animal[] = [
  { name: 'Rex', categoryId: 7n, status: 'available' },
  { name: ' leading, trailing ', categoryId: -(2n ** 63n) },
  { name: '"quoted" and ""doubled""', categoryId: 2n ** 63n - 1n, status: 'pending' },
  { name: 'line\nfeed\r\nand\rreturn', categoryId: 9_007_199_254_740_993n, status: 'sold' },
  { name: '🐈‍⬛ Žofie \uFEFF\u2028', categoryId: 0n },
  { name: '=1+1', categoryId: 1n },
  {
    name: 'Whole',
    categoryId: 1n,
    status: 'sold',
    description: ' "Calm";\r\nlikes, cats.\n',
    breed: '-Beagle',
    sex: 'female',
    size: 'extra_large',
    color: '"',
    birthDate: '2024-02-29',
    photoUrls: ['https://photos.example/a,b;c.jpg?q=%22', 'https://photos.example/'],
    tags: ['a;b', '"', 'line\nfeed', '\ra', ' blank ', 'a""b', ',', '=1'],
    reference: '0012 "A"',
  },
];

/** Texts as the catalogue takes them. */
const text = (maxLength: number) =>
  fc
    .string({
      unit: fc.oneof(fc.constantFrom('"', ',', ';', '\n', '\r', ' ', 'a'), anyCharacter),
      minLength: 1,
      maxLength,
    })
    .filter((value) => value.trim() !== '' && !value.includes('\0'));

const pet = fc.record(
  {
    name: text(60),
    categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    status: fc.constantFrom('available', 'pending', 'sold'),
    description: text(60),
    breed: text(20),
    sex: fc.constantFrom('female', 'male'),
    size: fc.constantFrom('small', 'extra_large'),
    birthDate: fc.constantFrom('0001-01-01', '2024-02-29'),
    photoUrls: fc.array(
      fc
        .webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['https'] })
        .map((url) => new URL(url).href),
      { minLength: 1, maxLength: 10 },
    ),
    tags: fc.uniqueArray(text(5), { minLength: 1, maxLength: 5, selector: foldedName }),
  },
  { requiredKeys: ['name', 'categoryId'] },
);

type Animal = Readonly<NewPet>;

function ndjson(animals: readonly Animal[]): string {
  return animals.map((animal, index) => `${petJson({ id: BigInt(index + 1), ...animal })}\n`).join('');
}

test('export | import - restores the same animals in each format', async (t) => {
  const drawn = fc
    .sample(pet, 2_000)
    .map((animal, index) => Object.assign(animal, { reference: `${index}"` }));
  const animals = [...HARD, ...drawn] as readonly Animal[];
  const first = temporaryEnvironment(t);
  const expected = ndjson(animals);
  const imported = await run(['import', '-'], first, expected);
  assert.ok(imported.stdout.startsWith(`imported ${animals.length}, refused 0\n`), imported.stderr);
  for (const format of ['ndjson', 'csv']) {
    const second = temporaryEnvironment(t);
    const exported = await run(['export', '--format', format], first);
    assert.equal(exported.code, 0, exported.stderr);
    const back = await run(['import', '-'], second, exported.stdout);
    assert.ok(back.stdout.startsWith(`imported ${animals.length}, refused 0\n`), back.stderr);
    assert.equal((await run(['export'], second)).stdout, expected);
  }
});

test('exported CSV has a column for each field, quotes every text, and leaves an absent value empty', async (t) => {
  const variables = temporaryEnvironment(t);
  await run(['import', '-'], variables, ndjson(HARD.slice(0, 3)));
  assert.equal(
    (await run(['export', '--format', 'csv'], variables)).stdout,
    `id,name,categoryId,status,description,breed,sex,size,color,birthDate,photoUrls,tags,reference
1,"Rex",7,available,,,,,,,,,
2," leading, trailing ",-9223372036854775808,,,,,,,,,,
3,"""quoted"" and """"doubled""""",9223372036854775807,pending,,,,,,,,,
`,
  );
});

test('exported CSV has blanks between addresses, and semicolons between tags in quotes where needed', async (t) => {
  const variables = temporaryEnvironment(t);
  const animal: Animal = {
    name: 'Rex',
    categoryId: 1n,
    sex: 'male',
    birthDate: '2024-02-29',
    photoUrls: ['https://photos.example/1', 'https://photos.example/2'],
    tags: ['calm', 'a;b', 'so-called "dog"', 'a,b'],
    reference: 'A1',
  };
  await run(['import', '-'], variables, ndjson([animal]));
  const { stdout } = await run(['export', '--format', 'csv'], variables);
  assert.equal(
    stdout.split('\n')[1],
    '1,"Rex",1,,,,male,,,2024-02-29,"https://photos.example/1 https://photos.example/2",' +
      '"calm;""a;b"";""so-called """"dog"""""";a,b","A1"',
  );
});

test('an export ends quietly when its reader closes the pipe', async (t) => {
  const variables = temporaryEnvironment(t);
  // Five times as much text as a pipe holds.
  await runJson(['seed', '5000', '--random-seed', '1'], variables);
  const { child, ended } = start(['export'], variables);
  if (child.stdout) {
    await once(child.stdout, 'data');
    child.stdout.destroy();
  }
  const { code, stderr } = await ended;
  assert.equal(stderr, '');
  assert.equal(code, 0);
});

test('an output that cannot be written gives one clear line and exit 1', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['seed', '10', '--random-seed', '1'], variables);
  for (const args of [['export'], ['accounts', 'list', '--json']]) {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: variables,
      stdio: ['ignore', full, 'pipe'],
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece;
    });
    const [code] = await once(child, 'close');
    closeSync(full);
    assert.equal(code, 1);
    assert.match(stderr, /^petstore: The output cannot be written: ENOSPC.*\n$/);
  }
});

/** Their texts alone are 6 MB, and what the program loads leaves 4 MiB of the heap. */
const MANY = 30_000;

test('import and export stream more animals than a heap of 20 MiB holds', async (t) => {
  const variables = temporaryEnvironment(t);
  const small = (args: readonly string[]) =>
    spawn(process.execPath, ['--max-old-space-size=20', PROGRAM, ...args], { env: variables });
  await runJson(['seed', String(MANY), '--random-seed', '1'], variables);
  const reader = small(['export']);
  const writer = small(['import', '-', '--json']);
  reader.stdout.pipe(writer.stdin);
  let report = '';
  writer.stdout.setEncoding('utf8').on('data', (piece: string) => {
    report += piece;
  });
  const [[exported], [imported]] = await Promise.all([once(reader, 'close'), once(writer, 'close')]);
  assert.deepEqual([exported, imported], [0, 0]);
  const { imported: count, refused } = JSON.parse(report) as { imported: number; refused: number };
  assert.deepEqual([count, refused], [MANY, 0]);
});

test('export --json prints one JSON array of the animals with exact int64', async (t) => {
  const env = temporaryEnvironment(t);
  assert.equal((await run(['export', '--json'], env)).stdout, '[]\n');
  await run(['import', '-', '--format', 'csv'], env, 'name,categoryId\nRex,9223372036854775807\nMax,2\n');
  const { stdout } = await run(['export', '--json'], env);
  assert.equal(
    stdout,
    '[{"id":1,"name":"Rex","categoryId":9223372036854775807},{"id":2,"name":"Max","categoryId":2}]\n',
  );
  assert.equal((await run(['export', '--json', '--format', 'csv'], env)).code, 2);
});
