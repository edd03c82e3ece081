// Contract: section 10.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { DAY } from '../../src/domain/clock.ts';
import { mayHoldApiKey } from '../../src/domain/api-key.ts';
import { OperatorSecret } from '../../src/domain/operator.ts';
import * as management from '../../src/management/operators.ts';
import type { NewFixture } from '../storage/fixture.ts';
import { postgresFixture } from '../storage/postgres-fixture.ts';
import { sqliteFixture } from '../storage/sqlite-fixture.ts';
import { fakeClock } from '../support/clock.ts';
import { openStore, ROOT } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

/** The functions that commands and the admin API share for operators. */
function operatorsContract(name: string, fresh: NewFixture): void {
  const prepare = async (t: Parameters<NewFixture>[0]) => {
    const fixture = await fresh(t);
    const { operators } = fixture.store;
    const ada = await management.createOperator(operators, ROOT, 'Ada', 'admin');
    return { ...fixture, operators, ada };
  };

  test(`${name}: a name that is not known gets an error with the nearest name`, async (t) => {
    const { operators, ada } = await prepare(t);
    await assert.rejects(management.createOperator(operators, ROOT, 'ADA', 'viewer'), {
      code: 'conflict',
      message: 'There is an operator Ada already; the case of a name does not count.',
    });
    await assert.rejects(management.createOperator(operators, ROOT, ' x', 'viewer'), {
      code: 'invalid_parameter',
    });
    const mistyped = { code: 'not_found', message: 'There is no operator Adda. Did you mean Ada?' };
    await assert.rejects(management.existingOperator(operators, 'Adda'), mistyped);
    await assert.rejects(management.removeOperator(operators, ROOT, 'Adda'), mistyped);
    await assert.rejects(management.operatorById(operators, ada.id + 1), { code: 'not_found' });
    assert.deepEqual(await management.operatorById(operators, ada.id), ada);
  });

  test(`${name}: a link becomes a session with a secret of its own, once`, async (t) => {
    const { operators, ada } = await prepare(t);
    const { secret } = await management.makeLink(operators, ROOT, randomBytes, ada);
    const text = secret.reveal();
    const signedIn = await management.signIn(operators, randomBytes, text, '::1');
    assert.deepEqual(signedIn?.operator, ada);
    const session = signedIn.session.reveal();
    assert.notEqual(session, text);
    assert.deepEqual(await management.findOperator(operators, 'session', session), ada);
    assert.equal(await management.findOperator(operators, 'session', text), undefined);
    assert.equal(await management.signIn(operators, randomBytes, text, '::1'), undefined);
    await management.signOut(operators, session);
    assert.equal(await management.findOperator(operators, 'session', session), undefined);
  });

  test(`${name}: a token works until it ends, and needs an end in the future`, async (t) => {
    const { operators, ada, clock, passTime } = await prepare(t);
    const now = clock().unix;
    const issue = (expiresAt: number | undefined) =>
      management.issueToken(operators, ROOT, randomBytes, ada, { now, expiresAt });
    await assert.rejects(issue(now), { code: 'invalid_parameter' });
    const [forever, forADay] = [await issue(undefined), await issue(Math.ceil(now) + DAY)];
    const find = ({ token }: management.IssuedToken) =>
      management.findOperator(operators, 'token', token.reveal());
    assert.deepEqual([await find(forever), await find(forADay)], [ada, ada]);
    assert.deepEqual(await operators.tokens(), [forever.record, forADay.record]);
    const another = await management.issueToken(operators, ROOT, randomBytes, ada, {
      now,
      expiresAt: undefined,
    });
    await management.revokeToken(operators, ROOT, another.record.id);
    assert.equal(await find(another), undefined);
    assert.deepEqual(await find(forever), ada);
    await assert.rejects(management.revokeToken(operators, ROOT, another.record.id), { code: 'not_found' });
    await passTime(DAY + 1_000);
    assert.deepEqual([await find(forever), await find(forADay)], [ada, undefined]);
    await management.removeOperator(operators, ROOT, 'ada');
    assert.equal(await find(forever), undefined);
    await assert.rejects(issue(undefined), { code: 'not_found' });
    await assert.rejects(management.makeLink(operators, ROOT, randomBytes, ada), { code: 'not_found' });
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
    assert.equal(await management.findOperator(operators, 'token', text), undefined);
  for (const text of ['', `${link}a`, token, `${link.slice(1)} `]) {
    assert.equal(await management.findOperator(operators, 'session', text), undefined);
    assert.equal(await management.signIn(operators, randomBytes, text, undefined), undefined);
    await management.signOut(operators, text);
  }
  await assert.rejects(management.findOperator(operators, 'token', token));
  await assert.rejects(management.findOperator(operators, 'session', link));
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
  const url = new URL(management.linkAddress('https://console.example', secret));
  assert.deepEqual([url.origin, url.pathname, url.search], ['https://console.example', '/sign-in', '']);
  assert.equal(url.hash, `#${secret.reveal()}`);
});
