// Contract: section 10.
import assert from 'node:assert/strict';
import type { Actor } from '../../src/domain/audit.ts';
import { LINK_LIFETIME, SESSION_LIFETIME } from '../../src/domain/operator.ts';
import { ROOT } from '../support/store.ts';
import { test } from '../support/test.ts';
import { type NewFixture, requireValue } from './fixture.ts';

/** What the store promises about operators, their secrets and the audit log. */
export function operatorContract(name: string, fresh: NewFixture): void {
  const prepare = async (t: Parameters<NewFixture>[0]) => {
    const fixture = await fresh(t);
    const { operators } = fixture.store;
    const ada = requireValue(await operators.add(ROOT, 'Ada', 'admin'));
    const link = (secret: string) => operators.addLink(ROOT, ada, secret, LINK_LIFETIME);
    const enter = (secret: string, session: string) =>
      operators.signIn(secret, session, SESSION_LIFETIME, '::1');
    return { ...fixture, operators, ada, link, enter };
  };

  test(`${name}: two operators never have one name, whatever its case`, async (t) => {
    const { operators, ada } = await prepare(t);
    assert.deepEqual(await operators.add(ROOT, 'aDA', 'viewer'), { error: 'conflict' });
    assert.deepEqual(await operators.list(), [ada]);
    assert.deepEqual(await operators.find('ADA'), ada);
    assert.equal(await operators.find('Bob'), undefined);
  });

  test(`${name}: a link signs in once`, async (t) => {
    const { operators, ada, link, enter } = await prepare(t);
    await link('l1');
    assert.deepEqual(await enter('l1', 's1'), ada);
    assert.deepEqual(await operators.authenticate('session', 's1'), ada);
    assert.equal(await enter('l1', 's2'), undefined);
    assert.equal(await operators.authenticate('session', 's2'), undefined);
  });

  test(`${name}: of a hundred sign-ins with one link at once, one succeeds`, async (t) => {
    const { link, enter, another } = await prepare(t);
    await link('l1');
    const other = await another();
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0
          ? enter('l1', `s${index}`)
          : other.operators.signIn('l1', `s${index}`, SESSION_LIFETIME, '::1'),
      ),
    );
    assert.equal(all.filter((operator) => operator !== undefined).length, 1);
  });

  test(`${name}: a link ends after ten minutes, a session after twelve hours`, async (t) => {
    const { operators, ada, link, enter, passTime } = await prepare(t);
    await link('late');
    await passTime(LINK_LIFETIME);
    assert.equal(await enter('late', 's1'), undefined);
    await link('l2');
    assert.deepEqual(await enter('l2', 's2'), ada);
    await passTime(SESSION_LIFETIME - 1_000);
    assert.deepEqual(await operators.authenticate('session', 's2'), ada);
    await passTime(1_001);
    assert.equal(await operators.authenticate('session', 's2'), undefined);
    await operators.prune();
  });

  test(`${name}: a link, a session and a token are not taken for one another`, async (t) => {
    const { operators, ada, link, enter } = await prepare(t);
    await link('l1');
    await link('l2');
    await enter('l1', 's1');
    await operators.addToken(ROOT, ada, 't1', undefined);
    assert.equal(await operators.authenticate('session', 'l2'), undefined);
    assert.equal(await operators.authenticate('token', 's1'), undefined);
    assert.equal(await operators.authenticate('session', 't1'), undefined);
    assert.equal(await enter('t1', 's2'), undefined);
    assert.deepEqual(await operators.authenticate('token', 't1'), ada);
  });

  test(`${name}: sign-out and removal end sessions and tokens at once, also elsewhere`, async (t) => {
    const { operators, ada, link, enter, another } = await prepare(t);
    const other = await another();
    await link('l1');
    await link('l2');
    await enter('l1', 's1');
    await enter('l2', 's2');
    await operators.addToken(ROOT, ada, 't1', undefined);
    await operators.signOut('s1');
    assert.equal(await other.operators.authenticate('session', 's1'), undefined);
    assert.deepEqual(await other.operators.authenticate('session', 's2'), ada);
    assert.deepEqual(await other.operators.remove(ROOT, 'ada'), { value: undefined });
    assert.equal(await operators.authenticate('session', 's2'), undefined);
    assert.equal(await operators.authenticate('token', 't1'), undefined);
    assert.deepEqual(await operators.remove(ROOT, 'ada'), { error: 'not_found' });
  });

  test(`${name}: a change of an operator is in the audit log, newest first`, async (t) => {
    const { operators, ada, store, passTime } = await prepare(t);
    await passTime(1_000);
    const bob: Actor = { kind: 'operator', name: 'Bob', address: '::1' };
    await operators.addToken(bob, ada, 't1', undefined);
    await operators.remove(bob, 'Ada');
    const entries = await store.audit.list({ limit: 100 });
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
    const [second] = await store.audit.list({ limit: 1, before: newest.id });
    assert.equal(second?.action, 'operators token');
    assert.deepEqual(await store.audit.list({ limit: 10, accountId: 7 }), []);
  });

  test(`${name}: a link is in the audit log with its actor, a sign-in with its address`, async (t) => {
    const { store, link, enter } = await prepare(t);
    await link('l1');
    await enter('l1', 's1');
    await enter('l1', 's2');
    const [entered, made, , ...others] = await store.audit.list({ limit: 100 });
    assert.deepEqual(others, []);
    assert.deepEqual([made?.action, made?.actor, made?.target.name], ['operators link', ROOT, 'Ada']);
    const lifetime = Date.parse(String(made?.after?.['expiresAt'])) - (made?.at ?? 0);
    assert.ok(lifetime >= LINK_LIFETIME - 1_000 && lifetime <= LINK_LIFETIME);
    const actor = { kind: 'operator', name: 'Ada', address: '::1' };
    assert.deepEqual([entered?.action, entered?.actor], ['sign in', actor]);
  });

  test(`${name}: a removed operator gets no link and no token`, async (t) => {
    const { store, operators, ada, link } = await prepare(t);
    await operators.remove(ROOT, 'Ada');
    assert.deepEqual(await link('l1'), { error: 'not_found' });
    assert.deepEqual(await operators.addToken(ROOT, ada, 't1', undefined), { error: 'not_found' });
    assert.equal((await store.audit.list({ limit: 100 })).length, 2);
  });

  test(`${name}: sign-ins while their operators are removed leave no session`, async (t) => {
    const { operators, another } = await prepare(t);
    const other = await another();
    const names = Array.from({ length: 50 }, (_, index) => `operator ${index}`);
    const added = await Promise.all(names.map((each) => operators.add(ROOT, each, 'admin')));
    for (const each of added) {
      const operator = requireValue(each);
      await operators.addLink(ROOT, operator, `l ${operator.name}`, LINK_LIFETIME);
    }
    const work = names.flatMap((each) => [
      operators.signIn(`l ${each}`, `s ${each}`, SESSION_LIFETIME, '::1'),
      other.operators.remove(ROOT, each),
    ]);
    await Promise.all(work);
    for (const each of names) assert.equal(await operators.authenticate('session', `s ${each}`), undefined);
    assert.equal((await operators.list()).length, 1);
  });

  test(`${name}: the audit log of an account has the entries that concern it`, async (t) => {
    const { store } = await prepare(t);
    const change = { action: 'keys revoke', target: { kind: 'key', name: '3' }, accountId: 7 } as const;
    await store.audit.add({ kind: 'key', id: 4 }, { ...change, before: { state: 'active', scopes: ['a'] } });
    const [entry, ...others] = await store.audit.list({ limit: 10, accountId: 7 });
    assert.deepEqual(others, []);
    assert.deepEqual(entry?.actor, { kind: 'key', id: 4 });
    assert.deepEqual(entry?.before, { state: 'active', scopes: ['a'] });
  });
}
