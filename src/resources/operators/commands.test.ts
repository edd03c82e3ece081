// Contract: sections 8 and 10.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { DATABASES, rowsText, storeOf } from '../../../test/support/databases.ts';
import { run, runJson, temporaryEnvironment, type Variables } from '../../../test/support/process.ts';
import { ROOT, createAccount } from '../../../test/support/store.ts';
import { requireValue } from '../../../test/storage/fixture.ts';
import { test } from '../../../test/support/test.ts';

interface AuditJson {
  readonly action: string;
  readonly actor: { readonly kind: string; readonly name: string };
  readonly target: { readonly kind: string; readonly name: string };
  readonly account: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

const TOKEN = /petstore_admin_[0-9A-Za-z]{38}/;
const LINK = /http:\/\/localhost:8081\/sign-in#([\w-]{43})/;

const audit = (variables: Variables, ...args: string[]) =>
  runJson<readonly AuditJson[]>(['audit', ...args], variables);

for (const [name, prepare] of Object.entries(DATABASES)) {
  test(`${name}: commands make operators, links and tokens, and each secret is shown once`, async (t) => {
    const variables = await prepare(t);
    const created = await runJson<object>(['operators', 'create', 'Ada', '--role', 'admin'], variables);
    assert.deepEqual(created, { ...created, id: 1, name: 'Ada', role: 'admin' });
    assert.match(
      (await run(['operators', 'create', 'bob', '--role', 'viewer'], variables)).stdout,
      /^Operator bob has the role viewer\. petstore console makes a link to sign in\.\n$/,
    );
    const { stdout: issued } = await run(['operators', 'token', 'ADA', '--expires', '90d'], variables);
    assert.match(
      issued,
      /^Token \d+ of operator Ada \(admin\), until .*Z:\n\n {2}petstore_admin_\w{38}\n\nIt is shown only/,
    );
    const { stdout: linked } = await run(['console', '--as', 'ada'], variables);
    const link = LINK.exec(linked)?.[1] ?? '';
    const { stdout: listed } = await run(['operators', 'list'], variables);
    assert.match(
      listed,
      /^NAME +ROLE +CREATED +PASSKEYS +TOKENS\nAda +admin +\S+Z +- +1 until \S+Z\nbob +viewer +\S+Z +- +-\n$/,
    );

    const store = await storeOf(t, variables);
    const token = TOKEN.exec(issued)?.[0] ?? '';
    const found = await store.operators.authenticate('token', token);
    assert.equal(found?.name, 'Ada');
    const entries = await audit(variables);
    assert.deepEqual(
      entries.map(({ action, target }) => `${action} ${target.name}`),
      ['operators link Ada', 'operators token Ada', 'operators create bob', 'operators create Ada'],
    );
    for (const { actor } of entries) assert.equal(actor.kind, 'system');
    const outputs = [await rowsText(store), (await run(['audit'], variables)).stdout, listed].join('\n');
    assert.ok(outputs.includes(hash('sha256', link, 'hex')));
    for (const secret of [token, link]) assert.ok(secret.length > 40 && !outputs.includes(secret));

    const { stdout: removed } = await run(['operators', 'remove', 'ada'], variables);
    assert.equal(
      removed,
      'Operator Ada is removed. Its links, passkeys, sessions and tokens no longer work.\n' +
        'No admin is left: create one with petstore operators create NAME --role admin.\n',
    );
    assert.equal(await store.operators.authenticate('token', token), undefined);
  });

  test(`${name}: commands list the passkeys of operators, and remove one`, async (t) => {
    const variables = await prepare(t);
    const store = await storeOf(t, variables);
    const ada = requireValue(await store.operators.create(ROOT, 'Ada', 'admin'));
    const challenge = (await store.passkeys.makeChallenge(ada.id)).toString('base64url');
    const credential = { credential: 'aa', publicKey: 'bb', counter: 0 };
    requireValue(await store.passkeys.create(ROOT, ada.id, 'laptop', credential, challenge));
    assert.match((await run(['operators', 'list'], variables)).stdout, /\nAda +admin +\S+Z +1 laptop +-\n$/);
    const [listed] = await runJson<readonly { passkeys: object[] }[]>(['operators', 'list'], variables);
    const [passkey] = listed?.passkeys ?? [];
    assert.deepEqual(passkey, { ...passkey, id: 1, name: 'laptop', lastUsedAt: null });
    assert.equal(
      (await run(['operators', 'remove-passkey', '1'], variables)).stdout,
      'Passkey 1, laptop of operator Ada, no longer signs in.\n',
    );
    const again = await run(['operators', 'remove-passkey', '1'], variables);
    assert.deepEqual([again.code, again.stderr], [1, 'petstore: There is no passkey 1.\n']);
    assert.deepEqual((await store.passkeys.list()).items, []);
  });

  test(`${name}: audit lists each entry once, newest first, of an account or since a time`, async (t) => {
    const variables = await prepare(t);
    const store = await storeOf(t, variables);
    const account = await createAccount(store.accounts, 'shop', 'free', { perMinute: 60, perDay: 1_000 });
    for (let number = 0; number < 250; number++)
      await store.audit.add(ROOT, {
        action: `change ${number}`,
        target: { kind: 'pets', name: 'x' },
        ...(number % 100 === 0 && { accountId: account.id }),
      });
    const all = await audit(variables);
    const expected = Array.from({ length: 250 }, (_, number) => `change ${249 - number}`);
    assert.deepEqual(
      all.map(({ action }) => action),
      [...expected, 'accounts create'],
    );
    const ofShop = await audit(variables, '--account', 'SHOP', '--since', '2026-01-01');
    assert.deepEqual(
      ofShop.map(({ action, account: its }) => `${action} ${its}`),
      ['change 200 shop', 'change 100 shop', 'change 0 shop', 'accounts create shop'],
    );
    assert.deepEqual(await audit(variables, '--since', '2099-01-01'), []);
    await run(['accounts', 'set', 'shop', '--plan', 'pro'], variables);
    const { stdout } = await run(['audit', '--since', '1h'], variables);
    assert.match(
      stdout,
      /^TIME +BY +FROM +ACTION +TARGET +ACCOUNT +CHANGE\n\S+Z +system \S+ +- +accounts set +account shop +shop +plan: free → pro\n/,
    );
  });
}

test('console needs an operator, and --as if there are several', async (t) => {
  const variables = temporaryEnvironment(t);
  const none = await run(['console'], variables);
  assert.deepEqual([none.code, none.stdout], [1, '']);
  assert.match(none.stderr, /^petstore: There is no operator: create one with petstore operators create /);
  await runJson(['operators', 'create', 'Ada', '--role', 'admin'], variables);
  const { link } = await runJson<{ link: string }>(['console'], {
    ...variables,
    CONSOLE_URL: 'https://console.example',
  });
  assert.match(link, /^https:\/\/console\.example\/sign-in#[\w-]{43}$/);
  const other = await runJson<{ link: string }>(['console'], { ...variables, CONSOLE_PORT: '9000' });
  assert.match(other.link, /^http:\/\/localhost:9000\/sign-in#/);
  await runJson(['operators', 'create', 'Bob', '--role', 'viewer'], variables);
  const several = await run(['console'], variables);
  assert.deepEqual(several, {
    code: 2,
    stdout: '',
    stderr: 'petstore: The operators are Ada and Bob: name one with --as.\n',
  });
  const { code, stderr } = await run(['console', '--as', 'Add'], variables);
  assert.deepEqual([code, stderr], [1, 'petstore: There is no operator Add. Did you mean Ada?\n']);
  assert.equal((await run(['operators', 'create', 'aDA', '--role', 'admin'], variables)).code, 1);
  assert.equal((await run(['operators', 'create', 'Eve'], variables)).code, 2);
  assert.equal((await run(['operators', 'token', 'Ada', '--expires', '2020-01-01'], variables)).code, 2);
});
