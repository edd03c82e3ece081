// Contract: section 5.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import { PLANS } from '../../domain/plan.ts';
import {
  changeAccount,
  createAccount,
  findAccount,
  findOrCreateAccount,
  ROOT,
} from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

/** Names, and other names that differ from them in case only. */
const SPELLINGS = [
  ['shop', ['shop', 'Shop', 'SHOP']],
  ['Straße', ['strasse', 'STRASSE']],
  ['\u00c9clair', ['\u00e9clair', 'e\u0301clair']],
  ['ΟΔΟΣ', ['οδος', 'οδοσ']],
] as const;

const nameTaken = (name: string) => ({
  error: 'conflict',
  message: `There is an account ${name} already; the case of a name does not count.`,
});

for (const [name, fresh] of STORES) {
  test(`${name}: the case of an account's name does not count`, async (t) => {
    const { store, another } = await fresh(t);
    const { accounts } = await another();
    for (const [written, others] of SPELLINGS) {
      const account = await createAccount(store.accounts, written, 'free', PLANS.free);
      for (const other of others) {
        assert.deepEqual(await findAccount(accounts, other), account, other);
        assert.deepEqual(await findOrCreateAccount(accounts, other, 'pro'), account, other);
        await assert.rejects(createAccount(accounts, other, 'pro', PLANS.pro), {
          code: 'conflict',
          message: nameTaken(written).message,
        });
      }
    }
    assert.equal((await accounts.listAll()).length, SPELLINGS.length);
  });

  test(`${name}: of two spellings of a new name at once, one is created`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const made = await Promise.allSettled(
      ['Shelter', 'shelter', 'SHELTER', 'sHELTER'].map((spelling, index) =>
        createAccount((index % 2 === 0 ? store : other).accounts, spelling, 'free', PLANS.free),
      ),
    );
    const refused = made.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
    assert.deepEqual(refused, ['conflict', 'conflict', 'conflict']);
    assert.equal((await store.accounts.listAll()).length, 1);
  });

  test(`${name}: of two accounts that take one name at once, one gets it`, async (t) => {
    const { store, another } = await fresh(t);
    const stores = [store, await another()];
    for (let round = 0; round < 10; round++) {
      const renames = stores.map(async ({ accounts }, index) => {
        const { id } = await createAccount(accounts, `${round} ${index}`, 'free', PLANS.free);
        return () => accounts.change(ROOT, id, { name: `shelter ${round}` });
      });
      const results = await Promise.all((await Promise.all(renames)).map((rename) => rename()));
      const refused = results.filter((result) => 'error' in result);
      assert.deepEqual(refused, [nameTaken(`shelter ${round}`)]);
    }
  });

  test(`${name}: an account takes any name that is free, also its own in other case`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const shelter = await createAccount(accounts, 'shelter', 'pro', PLANS.pro);
    await createAccount(accounts, 'zoo', 'free', PLANS.free);
    assert.deepEqual(await accounts.change(ROOT, shelter.id, { name: 'Zoo' }), nameTaken('zoo'));
    await changeAccount(accounts, shelter.id, { name: 'Shelter' });
    assert.deepEqual(await findAccount(accounts, 'shelter'), { ...shelter, name: 'Shelter' });
    await changeAccount(accounts, shelter.id, { name: 'home' });
    assert.deepEqual(await findAccount(accounts, 'HOME'), { ...shelter, name: 'home' });
    assert.equal(await findAccount(accounts, 'shelter'), undefined);
    await createAccount(accounts, 'SHELTER', 'free', PLANS.free);
  });

  test(`${name}: a name that is taken is a conflict`, async (t) => {
    const { accounts } = (await fresh(t)).store;
    const first = await createAccount(accounts, 'shelter', 'pro', PLANS.pro);
    await assert.rejects(createAccount(accounts, 'shelter', 'free', PLANS.free), { code: 'conflict' });
    assert.deepEqual(await accounts.listAll(), [first]);
  });
}
