// Contract: section 10.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { DAY } from '../../domain/clock.ts';
import { mayHoldApiKey } from '../../domain/api-key.ts';
import type { IssuedToken } from './repository.ts';
import { linkAddress, OperatorSecret } from './rules.ts';
import { type NewFixture, requireValue } from '../../../test/storage/fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { fakeClock } from '../../../test/support/clock.ts';
import { openStore, ROOT } from '../../../test/support/store.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { test } from '../../../test/support/test.ts';

/** The functions that commands and the admin API share for operators. */
function operatorsContract(name: string, fresh: NewFixture): void {
  const prepare = async (t: Parameters<NewFixture>[0]) => {
    const fixture = await fresh(t);
    const { operators } = fixture.store;
    const ada = requireValue(await operators.create(ROOT, 'Ada', 'admin'));
    return { ...fixture, operators, ada };
  };

  test(`${name}: a name that is not known gets an error with the nearest name`, async (t) => {
    const { operators, ada } = await prepare(t);
    assert.deepEqual(await operators.create(ROOT, 'ADA', 'viewer'), {
      error: 'conflict',
      message: 'There is an operator Ada already; the case of a name does not count.',
    });
    const refused = await operators.create(ROOT, ' x', 'viewer');
    assert.equal('error' in refused && refused.error, 'invalid_request');
    const mistyped = { error: 'not_found', message: 'There is no operator Adda. Did you mean Ada?' };
    assert.deepEqual(await operators.find('Adda'), mistyped);
    const missing = { error: 'not_found', message: `There is no operator ${ada.id + 1}.` };
    assert.deepEqual(await operators.remove(ROOT, ada.id + 1), missing);
    assert.deepEqual(await operators.find('ada'), { value: ada });
  });

  test(`${name}: a link becomes a session with a secret of its own, once`, async (t) => {
    const { operators, ada } = await prepare(t);
    const { secret } = requireValue(await operators.createLink(ROOT, ada.id));
    const text = secret.reveal();
    assert.equal((await operators.list()).items[0]?.lastSignInAt, undefined);
    const signedIn = requireValue(await operators.signIn(text, '::1'));
    assert.ok((await operators.list()).items[0]?.lastSignInAt !== undefined, 'the list has the sign-in');
    assert.deepEqual(signedIn.operator, ada);
    const session = signedIn.session.reveal();
    assert.notEqual(session, text);
    assert.deepEqual(await operators.authenticate('session', session), ada);
    assert.equal(await operators.authenticate('session', text), undefined);
    assert.deepEqual(await operators.signIn(text, '::1'), { error: 'unauthorized' });
    await operators.signOut(session);
    assert.equal(await operators.authenticate('session', session), undefined);
  });

  test(`${name}: a token works until it ends, and needs an end in the future`, async (t) => {
    const { operators, ada, clock, passTime } = await prepare(t);
    const now = clock().unix;
    const issue = (expiresAt: number | undefined) => operators.createToken(ROOT, ada.id, expiresAt);
    const past = { error: 'invalid_request', message: 'The end of a token must lie in the future.' };
    assert.deepEqual(await issue(Math.floor(now)), past);
    const forever = requireValue(await issue(undefined));
    const forADay = requireValue(await issue(Math.ceil(now) + DAY));
    const find = ({ token }: IssuedToken) => operators.authenticate('token', token.reveal());
    assert.deepEqual([await find(forever), await find(forADay)], [ada, ada]);
    assert.deepEqual((await operators.listTokens()).items, [forever.record, forADay.record]);
    const another = requireValue(await issue(undefined));
    const { id } = another.record;
    assert.deepEqual(await operators.revokeToken(ROOT, id), { value: undefined });
    assert.equal(await find(another), undefined);
    assert.deepEqual(await find(forever), ada);
    const revoked = { error: 'not_found', message: `There is no token ${id}.` };
    assert.deepEqual(await operators.revokeToken(ROOT, id), revoked);
    await passTime(DAY + 1_000);
    assert.deepEqual([await find(forever), await find(forADay)], [ada, undefined]);
    await operators.remove(ROOT, ada.id);
    assert.equal(await find(forever), undefined);
    const missing = { error: 'not_found', message: `There is no operator ${ada.id}.` };
    assert.deepEqual(await issue(undefined), missing);
    assert.deepEqual(await operators.createLink(ROOT, ada.id), missing);
  });
}

operatorsContract('SQLite', (t) => sqliteFixture(t));
operatorsContract('PostgreSQL', (t) => postgresFixture(t));

test('a text of another format does not ask the database', async (t) => {
  const store = openStore(`sqlite:${join(temporaryFolder(t), 'petstore.db')}`, fakeClock());
  const token = OperatorSecret.generate('token', randomBytes).reveal();
  const link = OperatorSecret.generate('link', randomBytes).reveal();
  await store.close();
  const { operators } = store;
  const last = token.endsWith('a') ? 'b' : 'a';
  for (const text of ['', `${token.slice(0, -1)}${last}`, `${token}a`, link])
    assert.equal(await operators.authenticate('token', text), undefined);
  for (const text of ['', `${link}a`, token, `${link.slice(1)} `]) {
    assert.equal(await operators.authenticate('session', text), undefined);
    assert.deepEqual(await operators.signIn(text, undefined), { error: 'unauthorized' });
    await operators.signOut(text);
  }
  await assert.rejects(operators.authenticate('token', token));
  await assert.rejects(operators.authenticate('session', link));
});

test('a secret has 256 random bits or the form of a key, and its hash is its SHA-256', () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => index * 8);
  const link = OperatorSecret.generate('link', () => bytes);
  assert.deepEqual(new Uint8Array(Buffer.from(link.reveal(), 'base64url')), bytes);
  assert.equal(link.hash(), createHash('sha256').update(link.reveal()).digest('hex'));
  const token = OperatorSecret.generate('token', randomBytes).reveal();
  assert.match(token, /^petstore_admin_[0-9A-Za-z]{38}$/);
  assert.equal(mayHoldApiKey(`x${token.slice(0, 20)}`), true);
});

test('no way of printing shows the secret of an operator', () => {
  for (const kind of ['link', 'session', 'token'] as const) {
    const secret = OperatorSecret.generate(kind, randomBytes);
    const cause = new Error('failed', { cause: { secret } });
    const printed = [JSON.stringify({ secret }), inspect(cause, { showHidden: true })];
    assert.ok(!printed.join().includes(secret.reveal().slice(-20)));
  }
});

test('the secret of a link is in the fragment of its address', () => {
  const secret = OperatorSecret.generate('link', randomBytes);
  const url = new URL(linkAddress('https://console.example', secret));
  assert.deepEqual([url.origin, url.pathname, url.search], ['https://console.example', '/sign-in', '']);
  assert.equal(url.hash, `#${secret.reveal()}`);
});
