// Contract: section 8.2.
import assert from 'node:assert/strict';
import { DATABASES, storeOf } from '../support/databases.ts';
import { run, temporaryEnvironment } from '../support/process.ts';
import { findOrCreateAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

const TAKEN = 'an animal of the same owner has this reference already.';

for (const [name, prepare] of Object.entries(DATABASES)) {
  test(`${name}: a row whose reference its owner has already, or a row above has, is refused`, async (t) => {
    const variables = await prepare(t);
    const store = await storeOf(t, variables);
    await findOrCreateAccount(store.accounts, 'shelter', 'free');
    const importing = (text: string, ...args: string[]) => run(['import', '-', ...args], variables, text);
    const first = 'name,categoryId,reference\nRex,1,A1\nBo,1,\nBo,1,\nCy,1,a1\n';
    assert.equal((await importing(first)).code, 0);
    const second = 'name,categoryId,reference\nDi,1,A2\nRex,1,A1\n,1,A3\nDi,1,A2\nFi,1,A3\nGus,1,\n';
    const refused = `line 3: ${TAKEN}
line 4: name must not be empty or only white space.
line 5: the row in line 2 has this reference already.
`;
    for (const option of ['--atomic', '--dry-run']) {
      const { code, stderr } = await importing(second, option);
      assert.ok(stderr.startsWith(refused), stderr);
      assert.equal(code, option === '--atomic' ? 1 : 3);
    }
    assert.equal((await run(['export'], variables)).stdout.split('\n').length, 5);
    const { code, stdout, stderr } = await importing(second);
    assert.equal(stderr, refused);
    assert.match(stdout, /^imported 3, refused 3\n/);
    assert.equal(code, 3);
    // Those of another owner do not count.
    assert.equal((await importing(first, '--account', 'shelter')).code, 0);
    assert.match((await importing(first, '--account', 'shelter')).stdout, /^imported 2, refused 2\n/);
  });

  test(`${name}: references far apart in a file are compared, too`, async (t) => {
    const variables = await prepare(t);
    const rows = Array.from({ length: 2_500 }, (_, index) => `Rex,1,A${index % 2_400}`);
    const text = `name,categoryId,reference\n${rows.join('\n')}\n`;
    const { stdout, stderr } = await run(['import', '-'], variables, text);
    assert.match(stdout, /^imported 2400, refused 100\n/);
    assert.match(stderr, /^line 2402: the row in line 2 has this reference already\.\n/);
  });

  for (const atomic of [false, true])
    test(`${name}: a reference that another program takes meanwhile ends ${atomic ? 'an atomic' : 'an'} import with a word`, async (t) => {
      const store = await storeOf(t, await prepare(t));
      const actor = { kind: 'system', name: 'test' } as const;
      const animal = { name: 'Rex', categoryId: 1n, reference: 'A1' };
      async function* animals() {
        yield animal;
        await store.pets.create(actor, animal);
      }
      await assert.rejects(store.pets.addAll(animals(), { actor, atomic }), {
        code: 'conflict',
        message:
          'Another program has just taken a reference of these animals: repeat the command for the rest.',
      });
      assert.equal((await Array.fromAsync(store.pets.readAll())).length, 1);
    });
}

test('a row that is born after tomorrow is refused', async (t) => {
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const text = `name,categoryId,birthDate\nRex,1,${tomorrow}\nBo,1,2999-01-01\n`;
  const { stdout, stderr } = await run(['import', '-'], temporaryEnvironment(t), text);
  assert.equal(stderr, 'line 3: birthDate must not be after tomorrow in UTC.\n');
  assert.match(stdout, /^imported 1, refused 1\n/);
});

test('a column of addresses or tags is read, and a word of another system named with its cure', async (t) => {
  const variables = temporaryEnvironment(t);
  const text = `name,categoryId,Sex,Photos,tags
Rex,1,M,https://a.example/1  https://a.example/2,"calm;""a;b"";"
Bo,1,male,https://a.example/1,
Cy,1,,http://a.example,
Di,1,,,"a""b"
Fi,1,,,a;A
`;
  const { stdout, stderr } = await run(['import', '-', '--map', 'photoUrls=Photos'], variables, text);
  assert.equal(
    stderr,
    `line 2: sex must be one of female, male. Column sex holds "M": translate it with --map 'sex=sex:VALUE=RESULT'.
line 4: photoUrls.0 must be an address that begins with https://.
line 5: tags must be a list of 1 to 20 texts.
line 6: tags must not have a tag twice, whatever its case.
`,
  );
  assert.match(stdout, /^imported 1, refused 4\n/);
  const mapped = ['--map', 'photoUrls=Photos', '--map', 'sex=Sex:M=male,*'];
  await run(['import', '-', ...mapped], variables, text);
  const animals = (await run(['export'], variables)).stdout.trimEnd().split('\n');
  assert.equal(
    animals[1],
    '{"id":2,"name":"Rex","categoryId":1,"sex":"male","photoUrls":["https://a.example/1","https://a.example/2"],"tags":["calm","a;b"]}',
  );
});
