// Contract: section 5.
import assert from 'node:assert/strict';
import { PLANS } from '../../src/domain/plan.ts';
import type { NewFixture } from './fixture.ts';
import { changeAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

/** Names, and other names that differ from them in case only. */
const SPELLINGS = [
  ['shop', ['shop', 'Shop', 'SHOP']],
  ['Straße', ['strasse', 'STRASSE']],
  ['\u00c9clair', ['\u00e9clair', 'e\u0301clair']],
  ['ΟΔΟΣ', ['οδος', 'οδοσ']],
] as const;

/** What the port AccountRepository promises of names. */
export function accountNameContract(name: string, fresh: NewFixture): void {
  test(`${name}: the case of an account's name does not count`, async (t) => {
    const { store, another } = await fresh(t);
    const { accounts } = await another();
    for (const [written, others] of SPELLINGS) {
      const account = await store.accounts.createAccount(written, 'free', PLANS.free);
      for (const other of others) {
        assert.deepEqual(await accounts.findAccount(other), account, other);
        assert.deepEqual(await accounts.findOrCreateAccount(other, 'pro', PLANS.pro), account, other);
        await assert.rejects(accounts.createAccount(other, 'pro', PLANS.pro), {
          code: 'conflict',
          message: `There is an account ${written} already; the case of a name does not count.`,
        });
      }
    }
    assert.equal((await accounts.listAccounts()).length, SPELLINGS.length);
  });

  test(`${name}: of two spellings of a new name at once, one is created`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const made = await Promise.allSettled(
      ['Shelter', 'shelter', 'SHELTER', 'sHELTER'].map((spelling, index) =>
        (index % 2 === 0 ? store : other).accounts.createAccount(spelling, 'free', PLANS.free),
      ),
    );
    const refused = made.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
    assert.deepEqual(refused, ['conflict', 'conflict', 'conflict']);
    assert.equal((await store.accounts.listAccounts()).length, 1);
  });

  test(`${name}: of two accounts that take one name at once, one gets it`, async (t) => {
    const { store, another } = await fresh(t);
    const stores = [store, await another()];
    for (let round = 0; round < 10; round++) {
      const renames = stores.map(async ({ accounts }, index) => {
        const { id } = await accounts.createAccount(`${round} ${index}`, 'free', PLANS.free);
        return () => accounts.changeAccount(id, { given: { name: `shelter ${round}` }, expected: {} });
      });
      const results = await Promise.all((await Promise.all(renames)).map((rename) => rename()));
      const refused = results.filter(({ outcome }) => outcome !== 'done');
      assert.deepEqual(refused, [{ outcome: 'name_taken', name: `shelter ${round}` }]);
    }
  });

  test(`${name}: an account takes any name that is free, also its own in other case`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const shelter = await accounts.createAccount('shelter', 'pro', PLANS.pro);
    await accounts.createAccount('zoo', 'free', PLANS.free);
    const taken = await accounts.changeAccount(shelter.id, { given: { name: 'Zoo' }, expected: {} });
    assert.deepEqual(taken, { outcome: 'name_taken', name: 'zoo' });
    await changeAccount(accounts, shelter.id, { name: 'Shelter' });
    assert.deepEqual(await accounts.findAccount('shelter'), { ...shelter, name: 'Shelter' });
    await changeAccount(accounts, shelter.id, { name: 'home' });
    assert.deepEqual(await accounts.findAccount('HOME'), { ...shelter, name: 'home' });
    assert.equal(await accounts.findAccount('shelter'), undefined);
    await accounts.createAccount('SHELTER', 'free', PLANS.free);
  });

  test(`${name}: a name that is taken is a conflict`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const first = await accounts.createAccount('shelter', 'pro', PLANS.pro);
    await assert.rejects(accounts.createAccount('shelter', 'free', PLANS.free), { code: 'conflict' });
    assert.deepEqual(await accounts.listAccounts(), [first]);
  });
}
