// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, temporaryEnvironment, type Variables } from '../support/process.ts';

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

test('--map renames columns and values, and an unlisted value refuses the row', async (t) => {
  const variables = temporaryEnvironment(t);
  const { code, stdout, stderr } = await importing(variables, OUTCOMES, ...NAME, ...CATEGORY, ...STATUS);
  assert.equal(code, 0);
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'line 3: name must not be empty or only white space.',
    'line 4: OutcomeType "Euthanasia" is not mapped to a status.',
    'line 5: name must not be empty or only white space. AnimalType "Bird" is not mapped to a categoryId. ' +
      'OutcomeType "Died" is not mapped to a status.',
  ]);
  assert.equal(stdout, 'imported 2, refused 3\n');
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

test('a mapped column that the file lacks is reported before anything is imported', async (t) => {
  const variables = temporaryEnvironment(t);
  const maps = [...NAME, ...CATEGORY, '--map', 'status=Outcome:x=sold'];
  assert.deepEqual(await importing(variables, OUTCOMES, ...maps), {
    code: 1,
    stdout: '',
    stderr: 'petstore: The file has no column Outcome; it has AnimalID, Name, OutcomeType, AnimalType.\n',
  });
  const twice = await importing(variables, 'name,categoryId,name\nRex,7,Bo\n');
  assert.equal(twice.stderr, 'petstore: The file has more than one column name.\n');
  assert.equal(twice.code, 1);
});

const WRONG = [
  ['name', /It must be field=COLUMN/],
  ['colour=Color', /with a field of name, categoryId, status/],
  ['status=Outcome:sold', /"sold" must be VALUE=RESULT/],
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
