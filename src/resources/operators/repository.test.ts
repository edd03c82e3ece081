// Contract: section 10.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Actor } from '../../domain/audit.ts';
import { SESSION_LIFETIME } from '../../domain/operator.ts';
import { LINK_LIFETIME } from './rules.ts';
import { ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { requireValue } from '../../../test/storage/fixture.ts';

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const { operators } = fixture.store;
    const ada = requireValue(await operators.create(ROOT, 'Ada', 'admin'));
    const link = async () => requireValue(await operators.createLink(ROOT, ada.id)).secret.reveal();
    const token = async (actor = ROOT) =>
      requireValue(await operators.createToken(actor, ada.id, undefined)).token.reveal();
    const enter = (text: string) => operators.signIn(text, '::1');
    const session = async () => requireValue(await enter(await link())).session.reveal();
    return { ...fixture, operators, ada, link, token, enter, session };
  };

  test(`${name}: two operators never have one name, whatever its case`, async (t) => {
    const { operators, ada } = await prepare(t);
    const message = 'There is an operator Ada already; the case of a name does not count.';
    assert.deepEqual(await operators.create(ROOT, 'aDA', 'viewer'), { error: 'conflict', message });
    assert.deepEqual((await operators.list()).items, [ada]);
    assert.deepEqual(await operators.find('ADA'), { value: ada });
    const missing = { error: 'not_found', message: 'There is no operator Bob.' };
    assert.deepEqual(await operators.find('Bob'), missing);
  });

  test(`${name}: a link signs in once`, async (t) => {
    const { operators, ada, link, enter } = await prepare(t);
    const text = await link();
    const { operator, session } = requireValue(await enter(text));
    assert.deepEqual(operator, ada);
    assert.deepEqual(await operators.authenticate('session', session.reveal()), ada);
    assert.deepEqual(await enter(text), { error: 'unauthorized' });
  });

  test(`${name}: of a hundred sign-ins with one link at once, one succeeds`, async (t) => {
    const { link, enter, another } = await prepare(t);
    const text = await link();
    const other = await another();
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0 ? enter(text) : other.operators.signIn(text, '::1'),
      ),
    );
    assert.equal(all.filter((result) => 'value' in result).length, 1);
  });

  test(`${name}: a link ends after ten minutes, a session after twelve hours`, async (t) => {
    const { operators, ada, link, enter, session, passTime } = await prepare(t);
    const late = await link();
    await passTime(LINK_LIFETIME);
    assert.deepEqual(await enter(late), { error: 'unauthorized' });
    const text = await session();
    await passTime(SESSION_LIFETIME - 1_000);
    assert.deepEqual(await operators.authenticate('session', text), ada);
    await passTime(1_001);
    assert.equal(await operators.authenticate('session', text), undefined);
    await operators.prune();
  });

  test(`${name}: a link, a session and a token are not taken for one another`, async (t) => {
    const { operators, ada, link, enter, token, session } = await prepare(t);
    const texts = { link: await link(), session: await session(), token: await token() };
    assert.equal(await operators.authenticate('session', texts.link), undefined);
    assert.equal(await operators.authenticate('token', texts.session), undefined);
    assert.equal(await operators.authenticate('session', texts.token), undefined);
    assert.deepEqual(await enter(texts.token), { error: 'unauthorized' });
    assert.deepEqual(await enter(texts.session), { error: 'unauthorized' });
    assert.deepEqual(await operators.authenticate('token', texts.token), ada);
  });

  test(`${name}: sign-out and removal end sessions and tokens at once, also elsewhere`, async (t) => {
    const { operators, ada, token, session, another } = await prepare(t);
    const other = await another();
    const [one, two] = [await session(), await session()];
    const ofProgram = await token();
    await operators.signOut(one);
    assert.equal(await other.operators.authenticate('session', one), undefined);
    assert.deepEqual(await other.operators.authenticate('session', two), ada);
    assert.deepEqual(await other.operators.remove(ROOT, ada.id), { value: ada });
    assert.equal(await operators.authenticate('session', two), undefined);
    assert.equal(await operators.authenticate('token', ofProgram), undefined);
    const missing = { error: 'not_found', message: `There is no operator ${ada.id}.` };
    assert.deepEqual(await operators.remove(ROOT, ada.id), missing);
  });

  test(`${name}: a change of an operator is in the audit log, newest first`, async (t) => {
    const { operators, ada, token, store, passTime } = await prepare(t);
    await passTime(1_000);
    const bob: Actor = { kind: 'operator', name: 'Bob', address: '::1' };
    await token(bob);
    await operators.remove(bob, ada.id);
    const entries = (await store.audit.list({ limit: 100 })).items;
    assert.deepEqual(
      entries.map(({ action, actor, before, after }) => ({ action, actor, before, after })),
      [
        { action: 'operators remove', actor: bob, before: { role: 'admin' }, after: undefined },
        { action: 'operators token', actor: bob, before: undefined, after: { token: 1, expiresAt: null } },
        { action: 'operators create', actor: ROOT, before: undefined, after: { role: 'admin' } },
      ],
    );
    const [newest, , oldest] = entries;
    assert.ok(newest !== undefined && oldest !== undefined && newest.at > oldest.at);
    const {
      items: [second],
    } = await store.audit.list({ limit: 1, cursor: BigInt(newest.id) });
    assert.equal(second?.action, 'operators token');
    assert.deepEqual((await store.audit.list({ limit: 10, accountId: 7 })).items, []);
  });

  test(`${name}: a link is in the audit log with its actor, a sign-in with its address`, async (t) => {
    const { store, link, enter } = await prepare(t);
    const text = await link();
    await enter(text);
    await enter(text);
    const {
      items: [entered, made, , ...others],
    } = await store.audit.list({ limit: 100 });
    assert.deepEqual(others, []);
    assert.deepEqual([made?.action, made?.actor, made?.target.name], ['operators link', ROOT, 'Ada']);
    const lifetime = Date.parse(String(made?.after?.['expiresAt'])) - (made?.at ?? 0);
    assert.ok(lifetime >= LINK_LIFETIME - 1_000 && lifetime <= LINK_LIFETIME);
    const actor = { kind: 'operator', name: 'Ada', address: '::1' };
    assert.deepEqual([entered?.action, entered?.actor], ['sign in', actor]);
  });

  test(`${name}: a token that is revoked many times at once is revoked once, with one entry`, async (t) => {
    const { operators, ada, store, another } = await prepare(t);
    const other = await another();
    const { record } = requireValue(await operators.createToken(ROOT, ada.id, undefined));
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? operators : other.operators).revokeToken(ROOT, record.id),
      ),
    );
    assert.equal(all.filter((result) => 'value' in result).length, 1);
    const entries = (await store.audit.list({ limit: 100 })).items;
    assert.equal(entries.filter(({ action }) => action === 'operators revoke-token').length, 1);
  });

  test(`${name}: a removed operator gets no link and no token`, async (t) => {
    const { store, operators, ada } = await prepare(t);
    await operators.remove(ROOT, ada.id);
    const missing = { error: 'not_found', message: `There is no operator ${ada.id}.` };
    assert.deepEqual(await operators.createLink(ROOT, ada.id), missing);
    assert.deepEqual(await operators.createToken(ROOT, ada.id, undefined), missing);
    assert.equal((await store.audit.list({ limit: 100 })).items.length, 2);
  });

  test(`${name}: sign-ins while their operators are removed leave no session`, async (t) => {
    const { operators, another } = await prepare(t);
    const other = await another();
    const names = Array.from({ length: 50 }, (_, index) => `operator ${index}`);
    const added = await Promise.all(names.map((each) => operators.create(ROOT, each, 'admin')));
    const links = [];
    for (const each of added) {
      const { id } = requireValue(each);
      const { secret } = requireValue(await operators.createLink(ROOT, id));
      links.push({ id, text: secret.reveal() });
    }
    const signedIn: string[] = [];
    const work = links.flatMap(({ id, text }) => [
      operators.signIn(text, '::1').then((result) => {
        if ('value' in result) signedIn.push(result.value.session.reveal());
      }),
      other.operators.remove(ROOT, id).then(requireValue),
    ]);
    await Promise.all(work);
    for (const session of signedIn) assert.equal(await operators.authenticate('session', session), undefined);
    assert.equal((await operators.list()).items.length, 1);
  });

  test(`${name}: the audit log of an account has the entries that concern it`, async (t) => {
    const { store } = await prepare(t);
    const change = { action: 'keys revoke', target: { kind: 'key', name: '3' }, accountId: 7 } as const;
    await store.audit.add({ kind: 'key', id: 4 }, { ...change, before: { state: 'active', scopes: ['a'] } });
    const {
      items: [entry, ...others],
    } = await store.audit.list({ limit: 10, accountId: 7 });
    assert.deepEqual(others, []);
    assert.deepEqual(entry?.actor, { kind: 'key', id: 4 });
    assert.deepEqual(entry?.before, { state: 'active', scopes: ['a'] });
  });
}
