// Contract: section 7.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { systemdAnalyze } from '../support/deploy-checks.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { pathOf, read } from './files.ts';

const UNIT = read('deploy/systemd/petstore.service');
const CHECKOUT = pathOf('').replace(/\/$/, '');

/** The values of a setting of the unit, which may come several times. */
const settings = (name: string) =>
  [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

/** The unit for this checkout. */
function installed(t: TestContext): string {
  const file = join(temporaryFolder(t), 'petstore.service');
  writeFileSync(file, UNIT.replaceAll('/opt/petstore', CHECKOUT));
  return file;
}

test('systemd accepts the unit without a warning', async (t) => {
  assert.equal(await systemdAnalyze('verify', installed(t)), '');
});

test('systemd rates the exposure of the unit at most 2 of 10', async (t) => {
  await systemdAnalyze('security', '--offline=true', '--threshold=20', installed(t));
});

test('the unit starts a program that exists, with a configuration that is valid', () => {
  const [command = ''] = settings('ExecStart');
  assert.match(
    command,
    /^\/opt\/petstore\/node_modules\/\.bin\/node --disable-sigusr1 bin\/petstore\.js serve$/,
  );
  assert.ok(existsSync(pathOf('bin/petstore.js')));
  const variables = settings('Environment').map((value) => value.split('=', 2) as [string, string]);
  const { databaseUrl } = readConfig(Object.fromEntries(variables));
  assert.equal(databaseUrl, `sqlite:/var/lib/${settings('StateDirectory')[0]}/petstore.db`);
});
