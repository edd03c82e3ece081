// Contract: sections 7 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runJson } from '../support/process.ts';

interface SettingJson {
  readonly variable: string;
  readonly value: string | null;
  readonly from: string;
}

test('config shows each value in force and where it comes from', async () => {
  const variables = { PORT: '9000', LOG_LEVEL: '', TRUST_PROXY: '10.0.0.0/8' };
  const settings = await runJson<readonly SettingJson[]>(['config'], variables);
  const found = new Map(settings.map(({ variable, value, from }) => [variable, [value, from]]));
  assert.deepEqual(found.get('PORT'), ['9000', 'environment']);
  assert.deepEqual(found.get('TRUST_PROXY'), ['10.0.0.0/8', 'environment']);
  assert.deepEqual(found.get('LOG_LEVEL'), ['info', 'default'], 'an empty variable counts as unset');
  assert.deepEqual(found.get('DATABASE_URL'), ['sqlite:data/petstore.db', 'default']);
  assert.deepEqual(found.get('BAN_AFTER'), ['100', 'default']);
  assert.deepEqual(found.get('ORDER_HOLD_HOURS'), ['72', 'default']);
  assert.deepEqual(found.get('REDIS_URL'), [null, 'default']);
  const { stdout } = await run(['config'], variables);
  assert.match(stdout, /^VARIABLE +VALUE +FROM\n/);
  assert.match(stdout, /\nPORT +9000 +environment\n/);
  assert.match(stdout, /\nREDIS_URL +not set +default\n/);
});

test('config prints no password of an address', async () => {
  const variables = {
    DATABASE_URL: 'postgres://shop:se%40cret@db.example/pets?sslmode=require&sslpassword=hidden',
    REDIS_URL: 'rediss://:se%40cret@redis.example:6380/1',
  };
  for (const args of [['config'], ['config', '--json']]) {
    const { stdout } = await run(args, variables);
    assert.doesNotMatch(stdout, /se%40cret|se@cret|hidden/);
    assert.ok(stdout.includes('postgres://shop:****@db.example/pets?sslmode=require&sslpassword=****'));
    assert.ok(stdout.includes('rediss://:****@redis.example:6380/1'));
  }
});

test('an origin that is refused shows no password', async () => {
  const { code, stderr } = await run(['config'], { CORS_ORIGINS: 'https://shop:hidden@a.example' });
  assert.equal(code, 2);
  assert.match(stderr, /"https:\/\/shop:\*\*\*\*@a\.example" is none/);
  assert.doesNotMatch(stderr, /hidden/);
});

test('config names every fault, prints no value and exits 2', async () => {
  const variables = { PORT: 'http', TRUST_PROXY: '10.0.0.1,a,b', BAN_AFTER: '0', REDIS_URL: 'http://:pw@r' };
  const { code, stdout, stderr } = await run(['config'], variables);
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.deepEqual(
    stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' ')),
    [
      'petstore: PORT',
      'petstore: REDIS_URL',
      'petstore: TRUST_PROXY',
      'petstore: TRUST_PROXY',
      'petstore: BAN_AFTER',
    ],
  );
  assert.doesNotMatch(stderr, /pw/);
});

test('config names a mistyped variable of the service', async () => {
  const typo = await run(['config'], { PETSTORE_ENVIROMENT: 'staging' });
  assert.equal(typo.code, 2);
  assert.match(typo.stderr, /PETSTORE_ENVIROMENT is not a variable .* did you mean PETSTORE_ENVIRONMENT\?/);
  const other = await run(['config', '--json'], { PETSTORE_LOG_LEVEL: 'debug' });
  assert.equal(other.code, 0);
  assert.match(
    other.stderr,
    /^petstore: PETSTORE_LOG_LEVEL is .* has no effect: did you mean LOG_LEVEL\?\n$/,
  );
});
