// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, temporaryEnvironment, type Variables } from '../support/process.ts';
import { firstCells } from './prepared.ts';

const OUTCOMES = `AnimalID,Name,OutcomeType,AnimalType
A1,Hambone,Return_to_owner,Dog
A2,,Transfer,Cat
A3,Emily,Euthanasia,Cat
A4,,Died,Bird
A5,Pearce,,Dog
`;

const NAME = ['--map', 'name=Name'];
const CATEGORY = ['--map', 'categoryId=AnimalType:Dog=1,Cat=2'];
const STATUS = ['--map', 'status=OutcomeType:Return_to_owner=sold,Transfer=sold,='];

const importing = (variables: Variables, input: string, ...args: string[]) =>
  run(['import', '-', ...args], variables, input);

async function statuses(variables: Variables): Promise<readonly unknown[]> {
  const { stdout } = await run(['export'], variables);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { status?: string }).status);
}

test('--map renames columns and values, and an unlisted value refuses the row', async (t) => {
  const variables = temporaryEnvironment(t);
  const { code, stdout, stderr } = await importing(variables, OUTCOMES, ...NAME, ...CATEGORY, ...STATUS);
  assert.equal(code, 3);
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'line 3: name must not be empty or only white space.',
    'line 4: OutcomeType "Euthanasia" is not mapped to a status.',
    'line 5: name must not be empty or only white space. AnimalType "Bird" is not mapped to a categoryId. ' +
      'OutcomeType "Died" is not mapped to a status.',
  ]);
  assert.match(stdout, /^imported 2, refused 3\n/);
  assert.equal(
    (await run(['export'], variables)).stdout,
    '{"id":1,"name":"Hambone","categoryId":1,"status":"sold"}\n{"id":2,"name":"Pearce","categoryId":1}\n',
  );
});

test('--map renames fields of NDJSON too, whatever the type of their values', async (t) => {
  const variables = temporaryEnvironment(t);
  const rows =
    '{"Name":"Rex","kind":3,"gone":true}\n{"Name":"Bo","kind":3}\n{"Name":"Cy","kind":[3],"gone":true}';
  const maps = [...NAME, '--map', 'categoryId=kind:3=9007199254740993', '--map', 'status=gone:true=sold,='];
  const { stderr } = await importing(variables, rows, ...maps);
  assert.equal(stderr, 'line 3: kind "{…}" is not mapped to a categoryId.\n');
  assert.equal(
    (await run(['export'], variables)).stdout,
    '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"sold"}\n' +
      '{"id":2,"name":"Bo","categoryId":9007199254740993}\n',
  );
});

test('the nearest column is found in capital letters, too', async (t) => {
  const { stderr } = await importing(temporaryEnvironment(t), 'CATEGORYID,NAMES\n1,Rex\n');
  assert.match(stderr, /has no column name; did you mean NAMES\? /);
});

test('a missing column that is like none of the file gets no suggestion', async (t) => {
  const { code, stderr } = await importing(temporaryEnvironment(t), 'Age,Colour\n3,red\n');
  assert.equal(code, 1);
  assert.equal(stderr, 'petstore: The file has no column name. It has Age, Colour. --map chooses columns.\n');
});

test('*=RESULT is the result of all values that are not listed, and of an absent one', async (t) => {
  const variables = temporaryEnvironment(t);
  const rows = 'name,categoryId,Outcome\nRex,1,Adoption\nBo,1,Died\nCy,1,\nDi,1,*\n';
  const { stdout } = await importing(variables, rows, '--map', 'status=Outcome:Adoption=sold,*=available');
  assert.match(stdout, /^imported 4, refused 0\n/);
  const ndjson = '{"name":"Fi","categoryId":1}\n{"name":"Gus","categoryId":1,"Outcome":"Adoption"}\n';
  await importing(variables, ndjson, '--map', 'status=Outcome:Adoption=sold,*=pending');
  await importing(variables, ndjson, '--map', 'status=Outcome:Adoption=available,*=');
  assert.deepEqual(await statuses(variables), [
    'sold',
    'available',
    'available',
    'available',
    'pending',
    'sold',
    undefined,
    'available',
  ]);
});

test('* keeps the values that are not listed as they are', async (t) => {
  const variables = temporaryEnvironment(t);
  const names = ['--map', 'name=Name:=Nameless,*'];
  const categories = ['--map', 'categoryId=Kind:Dog=1,*'];
  await importing(variables, 'Name,Kind\nRex,Dog\n,7\n', ...names, ...categories);
  const { stderr } = await importing(
    variables,
    '{"Name":null,"Kind":9007199254740993}\n{"Name":"Bo","Kind":"Cat"}\n',
    ...names,
    ...categories,
  );
  assert.match(stderr, /^line 2: categoryId must be an integer/);
  assert.equal(
    (await run(['export'], variables)).stdout,
    '{"id":1,"name":"Rex","categoryId":1}\n{"id":2,"name":"Nameless","categoryId":7}\n' +
      '{"id":3,"name":"Nameless","categoryId":9007199254740993}\n',
  );
});

test('a mapped column that the file lacks is reported before anything is imported', async (t) => {
  const variables = temporaryEnvironment(t);
  const maps = [...NAME, ...CATEGORY, '--map', 'status=Outcome:x=sold'];
  assert.deepEqual(await importing(variables, OUTCOMES, ...maps), {
    code: 1,
    stdout: 'imported 0, refused 0\n',
    stderr:
      'petstore: The file has no column Outcome; did you mean OutcomeType? ' +
      'It has AnimalID, Name, OutcomeType, AnimalType. --map chooses columns.\n',
  });
  const twice = await importing(variables, 'name,categoryId,name\nRex,7,Bo\n');
  assert.equal(twice.stderr, 'petstore: The file has more than one column name.\n');
  assert.equal(twice.code, 1);
});

const WRONG = [
  ['name', /It must be field=COLUMN/],
  ['colour=Color', /with a field of name, categoryId, status/],
  ['status=Outcome:sold', /"sold" must be VALUE=RESULT, \*=RESULT or \*/],
  ['status=Outcome:*,*=sold', /"\*" is mapped twice/],
  ['status=Outcome:a=sold,a=pending', /"a" is mapped twice/],
] as const;

test('an invalid --map exits 2 with the reason', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [map, reason] of WRONG) {
    const { code, stdout, stderr } = await importing(variables, OUTCOMES, '--map', map);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, reason);
  }
  const { code, stderr } = await importing(variables, OUTCOMES, ...NAME, ...NAME);
  assert.equal(code, 2);
  assert.match(stderr, /The field name is mapped twice/);
});

const USELESS = [
  ['categoryId=AnimalType:Dog=1,Cat=two', /The result "two" fits no animal: categoryId must be an integer/],
  ['status=Outcome:Adoption=avail', /The result "avail" fits no animal: status must be one of/],
  ['name=Name:=', /The result "" fits no animal: name must not be empty/],
  ['categoryId=AnimalType:*=', /The result "" fits no animal: categoryId must be/],
] as const;

test('a mapping to a value that no animal can have exits 2 before the file is read', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [map, reason] of USELESS) {
    const { code, stderr } = await run(['import', '/nowhere/animals.csv', '--map', map], variables);
    assert.equal(code, 2, stderr);
    assert.match(stderr, reason);
  }
});

test('a reason shows the first 80 characters of a value that is not mapped', async (t) => {
  const rows = `name,categoryId,Outcome\nRex,1,${'x'.repeat(1_000)}\n`;
  const { stderr } = await importing(temporaryEnvironment(t), rows, '--map', 'status=Outcome:a=sold');
  assert.match(stderr, /^line 2: Outcome "x{80}…" is not mapped to a status\.\n/);
});

test('a column, a value or a result in quotes may hold what else would end it', async (t) => {
  const variables = temporaryEnvironment(t);
  const rows = [
    'name,"Kind: of, it=",Outcome',
    'Rex,Dog,"SHELTER, NEUTER, RETURN"',
    'Bo,Cat,"say ""a=b"""',
    'Cy,,*',
    'Di,Dog,x\n',
  ].join('\n');
  const maps = [
    'categoryId="Kind: of, it=":Dog=1,*=2',
    'status=Outcome:"SHELTER, NEUTER, RETURN"=sold,"say ""a=b"""=pending,"*"="available",*=',
    'name=name:Di="Di, ""the dog""",*',
  ].flatMap((map) => ['--map', map]);
  const { code, stderr } = await importing(variables, rows, ...maps);
  assert.equal(code, 0, stderr);
  const { stdout } = await run(['export', '--format', 'csv'], variables);
  assert.deepEqual(firstCells(stdout), [
    '1,"Rex",1,sold',
    '2,"Bo",2,pending',
    '3,"Cy",2,available',
    '4,"Di, ""the dog""",1,',
  ]);
});

test('--map gives rows without a category one by its name', async (t) => {
  const variables = temporaryEnvironment(t);
  const rows = 'name,kind\nRex,\nTom,Cat\nBo,7\n';
  const map = ['--map', 'categoryId=kind:="Not known, yet",*'];
  const { code, stdout } = await importing(variables, rows, ...map);
  assert.equal(code, 0);
  assert.match(stdout, /^made 2 categories: Not known, yet, Cat$/m);
  const { stdout: csv } = await run(['export', '--format', 'csv'], variables);
  assert.deepEqual(firstCells(csv), ['1,"Rex",1,', '2,"Tom",2,', '3,"Bo",7,']);
});

test('the help shows how --map quotes a value with a comma', async () => {
  const { stdout } = await run(['import', '--help'], {});
  assert.match(stdout, /"SHELTER, NEUTER, RETURN"=sold/);
});
