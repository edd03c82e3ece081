// Contract: section 8.
import assert from 'node:assert/strict';
import { temporaryPostgres } from '../../../test/support/postgres.ts';
import {
  run,
  runJson,
  runProcess,
  temporaryEnvironment,
  type Variables,
} from '../../../test/support/process.ts';
import { test } from '../../../test/support/test.ts';

const DATABASES = {
  SQLite: async (t) => temporaryEnvironment(t),
  PostgreSQL: async (t) => ({ DATABASE_URL: await temporaryPostgres(t) }),
} satisfies Record<string, (t: Parameters<typeof temporaryEnvironment>[0]) => Promise<Variables>>;

for (const [name, fresh] of Object.entries(DATABASES)) {
  test(`${name}: eight processes create keys of one new account at once`, async (t) => {
    const variables = await fresh(t);
    await run(['migrate'], variables);
    const command = ['keys', 'create', '--account', 'shop', '--plan', 'pro'];
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => runProcess(command, variables)));
    assert.deepEqual(
      outcomes.map(({ code, stderr }) => [code, stderr]),
      outcomes.map(() => [0, '']),
    );
    const accounts = await runJson<{ name: string; plan: string }[]>(['accounts', 'list'], variables);
    assert.deepEqual(
      accounts.map((account) => [account.name, account.plan]),
      [['shop', 'pro']],
    );
    assert.equal((await runJson<unknown[]>(['keys', 'list'], variables)).length, 8);
  });
}
