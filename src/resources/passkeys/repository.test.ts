// Contract: section 10.1.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Actor } from '../../domain/audit.ts';
import { requireValue } from '../../../test/storage/fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { CHALLENGE_LIFETIME, MOST_PASSKEYS } from './rules.ts';

const ADA: Actor = { kind: 'operator', name: 'Ada', address: '::1' };

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const { operators, passkeys } = fixture.store;
    const ada = requireValue(await operators.create(ROOT, 'Ada', 'admin'));
    const challenge = async (operatorId?: number) =>
      (await passkeys.makeChallenge(operatorId)).toString('base64url');
    const add = async (credential: string, text?: string) =>
      passkeys.create(
        ADA,
        ada.id,
        'laptop',
        { credential, publicKey: 'a2V5', counter: 0 },
        text ?? (await challenge(ada.id)),
      );
    const entries = async () => (await fixture.store.audit.list({ limit: 100 })).items;
    return { ...fixture, operators, passkeys, ada, challenge, add, entries };
  };

  test(`${name}: a challenge adds one passkey, and only to the operator who got it`, async (t) => {
    const { operators, passkeys, ada, challenge, add } = await prepare(t);
    const bob = requireValue(await operators.create(ROOT, 'Bob', 'viewer'));
    const [ofBob, toSignIn, mine] = [await challenge(bob.id), await challenge(), await challenge(ada.id)];
    for (const other of [ofBob, toSignIn, 'invented'])
      assert.equal(((await add('one', other)) as { error?: string }).error, 'invalid_request');
    const added = requireValue(await add('one', mine));
    assert.deepEqual((await passkeys.list()).items, [added]);
    const { createdAt: _at, ...passkey } = added;
    assert.deepEqual(passkey, {
      id: 1,
      operatorId: ada.id,
      operator: 'Ada',
      name: 'laptop',
      lastUsedAt: undefined,
    });
    assert.equal(((await add('two', mine)) as { error?: string }).error, 'invalid_request');
  });

  test(`${name}: a challenge works for five minutes`, async (t) => {
    const { ada, challenge, add, passkeys, passTime } = await prepare(t);
    const late = await challenge(ada.id);
    await passTime(CHALLENGE_LIFETIME - 1_000);
    const inTime = await challenge(ada.id);
    await passTime(1_001);
    assert.equal(((await add('one', late)) as { error?: string }).error, 'invalid_request');
    await passkeys.prune();
    requireValue(await add('one', inTime));
  });

  test(`${name}: of many sign-ins with one challenge at once, also elsewhere, one succeeds`, async (t) => {
    const { passkeys, challenge, add, another, operators, ada } = await prepare(t);
    const { id: passkeyId } = requireValue(await add('one'));
    const text = await challenge();
    const other = await another();
    const assertion = { passkeyId, challenge: text, counter: 0, newCounter: 0 };
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? passkeys : other.passkeys).signIn(assertion, '::1'),
      ),
    );
    const won = all.flatMap((result) => ('value' in result ? [result.value] : []));
    assert.equal(won.length, 1);
    assert.deepEqual(await operators.authenticate('session', won[0]?.session.reveal() ?? ''), ada);
  });

  test(`${name}: of two sign-ins that saw one counter, one succeeds`, async (t) => {
    const { passkeys, challenge, add } = await prepare(t);
    const { id: passkeyId } = requireValue(await add('one'));
    const [first, second] = [await challenge(), await challenge()];
    const use = (text: string, newCounter: number) =>
      passkeys.signIn({ passkeyId, challenge: text, counter: 0, newCounter }, '::1');
    requireValue(await use(first, 5));
    assert.deepEqual(await use(second, 4), { error: 'unauthorized' });
    assert.equal((await passkeys.findCredential('one'))?.counter, 5);
  });

  test(`${name}: a challenge for a new passkey signs nobody in`, async (t) => {
    const { passkeys, ada, challenge, add } = await prepare(t);
    const { id: passkeyId } = requireValue(await add('one'));
    const assertion = { passkeyId, challenge: await challenge(ada.id), counter: 0, newCounter: 0 };
    assert.deepEqual(await passkeys.signIn(assertion, '::1'), { error: 'unauthorized' });
  });

  test(`${name}: the removal of a passkey ends the sessions that began with it, and no others`, async (t) => {
    const { passkeys, operators, ada, challenge, add, another } = await prepare(t);
    const other = await another();
    const enter = async (passkeyId: number) => {
      const assertion = { passkeyId, challenge: await challenge(), counter: 0, newCounter: 0 };
      return requireValue(await passkeys.signIn(assertion, '::1')).session.reveal();
    };
    const [lost, kept] = [requireValue(await add('one')), requireValue(await add('two'))];
    const [ofLost, ofKept] = [await enter(lost.id), await enter(kept.id)];
    assert.equal(requireValue(await other.passkeys.remove(ROOT, lost.id)).name, 'laptop');
    assert.equal(await operators.authenticate('session', ofLost), undefined);
    assert.deepEqual(await operators.authenticate('session', ofKept), ada);
    assert.equal(await passkeys.findCredential('one'), undefined);
    const missing = { error: 'not_found', message: `There is no passkey ${lost.id}.` };
    assert.deepEqual(await passkeys.remove(ROOT, lost.id), missing);
    assert.deepEqual(await passkeys.rename(ROOT, lost.id, 'x'), missing);
  });

  test(`${name}: the removal of an operator removes the passkeys`, async (t) => {
    const { passkeys, operators, ada, challenge, add } = await prepare(t);
    const { id: passkeyId } = requireValue(await add('one'));
    const [toSignIn, toAdd] = [await challenge(), await challenge(ada.id)];
    await operators.remove(ROOT, ada.id);
    assert.deepEqual((await passkeys.list()).items, []);
    const assertion = { passkeyId, challenge: toSignIn, counter: 0, newCounter: 0 };
    assert.deepEqual(await passkeys.signIn(assertion, '::1'), { error: 'unauthorized' });
    assert.deepEqual(await add('two', toAdd), { error: 'unauthorized' });
  });

  test(`${name}: an operator has each passkey once, and at most ${MOST_PASSKEYS}`, async (t) => {
    const { passkeys, ada, add } = await prepare(t);
    requireValue(await add('0'));
    assert.deepEqual(await add('0'), { error: 'conflict', message: 'This passkey was added already.' });
    for (let added = 1; added < MOST_PASSKEYS; added++) requireValue(await add(`${added}`));
    assert.equal(((await add('more')) as { error?: string }).error, 'conflict');
    const first = await passkeys.list({ limit: MOST_PASSKEYS - 1, operatorId: ada.id });
    const rest = await passkeys.list({ limit: 5, cursor: first.next, operatorId: ada.id });
    assert.equal(rest.items.length, 1);
    assert.deepEqual((await passkeys.list({ limit: 5, operatorId: ada.id + 1 })).items, []);
  });

  test(`${name}: every change and use of a passkey is in the audit log`, async (t) => {
    const { passkeys, challenge, add, entries } = await prepare(t);
    const { id } = requireValue(await add('one'));
    await passkeys.rename(ADA, id, 'phone');
    await passkeys.rename(ADA, id, 'phone');
    const assertion = { passkeyId: id, challenge: await challenge(), counter: 0, newCounter: 1 };
    await passkeys.signIn(assertion, '::1');
    await passkeys.signIn(assertion, '::1');
    await passkeys.remove(ROOT, id);
    const [laptop, phone] = [
      { passkey: id, name: 'laptop' },
      { passkey: id, name: 'phone' },
    ];
    assert.deepEqual(
      (await entries())
        .slice(0, -1)
        .map(({ action, actor, target, before, after }) => [action, actor, target.name, before, after]),
      [
        ['passkeys remove', ROOT, 'Ada', phone, undefined],
        ['sign in', ADA, 'Ada', undefined, phone],
        ['passkeys rename', ADA, 'Ada', laptop, phone],
        ['passkeys create', ADA, 'Ada', undefined, laptop],
      ],
    );
  });

  test(`${name}: a name of a passkey follows the rules of names`, async (t) => {
    const { passkeys, add } = await prepare(t);
    const { id } = requireValue(await add('one'));
    for (const bad of ['', ' x', 'x'.repeat(101)])
      assert.match(
        ((await passkeys.rename(ADA, id, bad)) as { message: string }).message,
        /^A passkey name has/,
      );
    assert.equal(requireValue(await passkeys.get(id)).name, 'laptop');
  });
}
