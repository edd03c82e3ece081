// Contract: sections 8 and 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from '../../../test/support/api.ts';
import { run, runJson, start, startServiceProcess, waitFor } from '../../../test/support/process.ts';
import { newKey, prepared } from '../../../test/cli/prepared.ts';
import { CLIENT } from '../../../test/support/store.ts';

const withAnimal = prepared(async (store) => {
  await store.pets.create(CLIENT, { name: 'Rex', categoryId: 2n ** 60n, status: 'available' });
  await store.categories.create({ kind: 'system', name: 'test' }, { name: 'Dogs' });
  return { key: await newKey(store) };
});

interface EventJson {
  readonly type: string;
  readonly actor: { readonly kind: string; readonly name: string } | null;
  readonly account: string | null;
  readonly version?: number;
}

test('events lists what happened to all accounts, the oldest first', async (t) => {
  const { variables, key } = await withAnimal(t);
  const { url } = await startServiceProcess(t, variables);
  await call(url, '/v1/store/orders', { key, body: '{"petId":1}' });
  const events = await runJson<readonly EventJson[]>(['events'], variables);
  assert.deepEqual(
    events.map(({ type, actor, account, version }) => [type, actor?.kind, actor?.name, account, version]),
    [
      ['pet.created', 'key', '1', null, 1],
      ['category.created', 'system', 'test', null, 1],
      ['key.created', 'system', 'root', 'shop', undefined],
      ['order.created', 'key', '1', 'shop', 1],
      ['pet.updated', 'key', '1', null, 2],
    ],
  );
});

test('events keeps int64 exact, and shows a table', async (t) => {
  const { variables } = await withAnimal(t);
  const { stdout } = await run(['events', '--type', 'pet.*'], variables);
  const [header, row, ...others] = stdout.trimEnd().split('\n');
  assert.match(header ?? '', /^TIME +TYPE +BY +ACCOUNT +VERSION +DATA$/);
  assert.match(row ?? '', /Z {2}pet\.created {2}key 1 +- +1 +\{.*"categoryId":1152921504606846976,/);
  assert.deepEqual(others, []);
  const terminal = await run(['events', '--type', 'pet.*'], variables, '', 120);
  assert.match(terminal.stdout, /\n(?:now|\d+ (?:s|min) ago) +pet\.created /);
});

test('events --since begins at an instant', async (t) => {
  const { variables } = await withAnimal(t);
  assert.deepEqual(await runJson(['events', '--since', '2100-01-01'], variables), []);
  const all = await runJson<readonly EventJson[]>(['events', '--since', '1h'], variables);
  assert.ok(all.length > 0);
});

test('events --follow begins now, and prints each event as it happens', async (t) => {
  const { variables, key } = await withAnimal(t);
  const { url } = await startServiceProcess(t, variables);
  const following = start(['events', '--follow', '--json', '--type', 'pet.*'], variables);
  t.after(() => following.child.kill('SIGKILL'));
  const table = start(['events', '--follow'], variables);
  t.after(() => table.child.kill('SIGKILL'));
  await waitFor(table, ({ stdout }) => (stdout.includes('TIME') ? true : undefined));
  // The other one says nothing before the first event, so animals are added until it does.
  await call(url, '/v1/store/orders', { key, body: '{"petId":1}' });
  while (!following.stdout().includes('\n'))
    await call(url, '/v1/pets', { key, body: '{"name":"Bo","categoryId":1}' });
  const [line = ''] = following.stdout().split('\n');
  assert.match((JSON.parse(line) as EventJson).type, /^pet\.(created|updated)$/);
  await waitFor(table, ({ stdout }) => (stdout.includes('order.created') ? true : undefined));
  const [header = '', ...events] = table.stdout().trimEnd().split('\n');
  for (const event of events) assert.equal(event.indexOf('{'), header.indexOf('DATA'), event);
  following.child.kill('SIGINT');
  await following.ended;
});

test('events refuses a type that there is not', async (t) => {
  const { variables } = await withAnimal(t);
  const { code, stderr } = await run(['events', '--type', 'pet.sold'], variables);
  assert.equal(code, 2);
  assert.match(stderr, /Allowed choices are \*, pet\.\*/);
});
