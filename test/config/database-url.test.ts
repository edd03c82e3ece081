// Contract: section 7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrlFault, driverUrl } from '../../src/config/database-url.ts';
import { run } from '../support/process.ts';

/** Passwords that hold what ends a part of an address, each with the digits before it that a port may have. */
const PASSWORDS = [
  '12/geheim',
  '12#geheim',
  '12?geheim',
  '/geheim',
  '#geheim',
  '?geheim',
  '%geheim',
  '%zzgeheim',
  'ge heim',
  '%ffgeheim',
];

test('an address with a password that is not encoded is refused, and no message repeats a part of it', async () => {
  for (const password of PASSWORDS)
    for (const [name, scheme] of [
      ['DATABASE_URL', 'postgres'],
      ['DATABASE_URL', 'postgresql'],
      ['REDIS_URL', 'redis'],
    ] as const) {
      const url = `${scheme}://hidden:${password}@127.0.0.1:1/pets`;
      for (const command of [['config'], ['keys', 'list'], ['usage']]) {
        const { code, stdout, stderr } = await run(command, { [name]: url });
        assert.equal(code, 2, `${url}: ${stderr}`);
        assert.match(stderr, new RegExp(`^petstore: ${name} .*write % as %25`));
        assert.doesNotMatch(stdout + stderr, /geheim|heim|hidden/);
      }
      if (scheme === 'redis') continue;
      const copied = await run(['copy', '--from', url, '--to', 'sqlite:none.db'], {});
      assert.equal(copied.code, 2);
      assert.doesNotMatch(copied.stderr, /geheim|heim|hidden/);
    }
});

test('an encoded password is taken, and so are a socket and several @', () => {
  for (const url of [
    `postgres://me:${encodeURIComponent('a%b@c/d#e?f g')}@db.example/pets?sslmode=require`,
    'postgres://me:a@b@db.example/pets',
    'postgres:///pets?host=/run/postgresql',
    'postgresql://[::1]:5433/pets',
  ])
    assert.equal(databaseUrlFault(url), undefined, url);
});

test('the driver verifies the certificate for sslmode=require, without its warning', () => {
  const base = 'postgres://me:s%40@db.example/pets';
  assert.equal(driverUrl(`${base}?sslmode=require`), `${base}?sslmode=verify-full`);
  for (const query of ['', '?sslmode=disable', '?sslmode=no-verify', '?uselibpqcompat=true&sslmode=require'])
    assert.equal(driverUrl(base + query), base + query);
});
