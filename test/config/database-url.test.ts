// Contract: section 7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findDatabaseUrlIssue, parsePostgresUrl } from '../../src/config/database-url.ts';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { UrlError } from '../../src/config/server-url.ts';
import { run, temporaryEnvironment } from '../support/process.ts';

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

/** What `parsePostgresUrl` reads, without what is absent. */
function readFields(url: string): Record<string, unknown> {
  const { kind, settings, ...fields } = parsePostgresUrl(url);
  assert.equal(kind, 'postgres');
  const all = { ...fields, ...settings };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

const tls = (verified: string, files: Record<string, string> = {}, isDirect = false) => ({
  tls: { verified, files, isDirect },
});

test('an address of PostgreSQL is read in one way', () => {
  const cases: Record<string, Record<string, unknown>> = {
    'postgres://me:a%25b%40c%2Fd%23e%3Ff%20g%3Ah@db.example/pets': {
      user: 'me',
      password: 'a%b@c/d#e?f g:h',
      host: 'db.example',
      database: 'pets',
    },
    'postgres://me:a@b@db.example/pets': {
      user: 'me',
      password: 'a@b',
      host: 'db.example',
      database: 'pets',
    },
    'postgres://me:a:b@db.example/pets': {
      user: 'me',
      password: 'a:b',
      host: 'db.example',
      database: 'pets',
    },
    'postgres://me@server:pw@db.example': { user: 'me@server', password: 'pw', host: 'db.example' },
    'postgres://me@db.example/': { user: 'me', host: 'db.example' },
    'postgres:///pets': { database: 'pets' },
    'postgres://db_1.example:1/a%2Fb': { host: 'db_1.example', port: 1, database: 'a/b' },
    'postgresql://[::1]:65535/pets': { host: '::1', port: 65_535, database: 'pets' },
    'postgres://[fe80::1%25eth0]/pets': { host: 'fe80::1%eth0', database: 'pets' },
    'postgres:///pets?host=/run/postgresql': { host: '/run/postgresql', database: 'pets' },
    'postgres://%2Frun%2Fpostgresql/pets': { host: '/run/postgresql', database: 'pets' },
    'postgres://me:pw@/pets?host=/cloudsql/shop:europe:db': {
      user: 'me',
      password: 'pw',
      host: '/cloudsql/shop:europe:db',
      database: 'pets',
    },
    'postgres://a.example:1?host=b.example&port=2&user=me&password=p%26q&dbname=pets': {
      host: 'b.example',
      port: 2,
      user: 'me',
      password: 'p&q',
      database: 'pets',
    },
    'postgres://h?application_name=shop&options=-c+work_mem%3D8MB&connect_timeout=3&channel_binding=require':
      {
        host: 'h',
        application_name: 'shop',
        options: '-c work_mem=8MB',
      },
    'postgres://h?sslmode=disable': { host: 'h', tls: false },
    'postgres://h?ssl=0': { host: 'h', tls: false },
    'postgres://h?ssl=true': { host: 'h', ...tls('name') },
    'postgres://h?sslmode=require': { host: 'h', ...tls('name') },
    'postgres://h?sslmode=no-verify': { host: 'h', ...tls('nothing') },
    'postgres://h?sslnegotiation=direct': { host: 'h', ...tls('name', {}, true) },
    'postgres://h?sslcert=/c.pem&sslkey=/k.pem&sslmode=verify-full&sslrootcert=/ca.pem': {
      host: 'h',
      ...tls('name', { sslrootcert: '/ca.pem', sslcert: '/c.pem', sslkey: '/k.pem' }),
    },
    'postgres://h?uselibpqcompat=true&sslmode=require': { host: 'h', ...tls('nothing') },
    'postgres://h?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=/ca.pem': {
      host: 'h',
      ...tls('authority', { sslrootcert: '/ca.pem' }),
    },
  };
  for (const [url, fields] of Object.entries(cases)) assert.deepEqual(readFields(url), fields, url);
});

test('an address of PostgreSQL that can be read in two ways, or not at all, is refused with what to do', () => {
  const cases: Record<string, RegExp> = {
    'postgres://a.example,b.example/pets': /must name one server/,
    'postgres://a.example:1,b.example:2/pets': /must name one server/,
    'postgres:///pets?host=a.example,b.example': /must name one server/,
    'postgres://me:pw@::1/pets': /brackets around an IPv6 address/,
    'postgres://[geheim]/pets': /write % as %25/,
    'postgres://h:0/pets': /port from 1 to 65535/,
    'postgres://h:65536/pets': /port from 1 to 65535/,
    'postgres://h/pets?port=five': /port from 1 to 65535/,
    'postgres://me:geheim': /write % as %25/,
    'postgres://me@geheim@h/pets': /write % as %25/,
    'postgres://me:a%00b@h/pets': /write % as %25/,
    'postgres://me:a%FFb@h/pets': /write % as %25/,
    'postgres://h/pets#geheim': /write % as %25/,
    'postgres://h?sslmode=Require': /one of disable, .*verify-full.* for sslmode/,
    'postgres://h?ssl=geheim': /one of .* for ssl$/,
    'postgres://h?slmode=require': /almost sslmode/,
    'postgres://h?sslRootCert=/ca.pem': /almost sslrootcert/,
    'postgres://h?sslmode=require&sslmode=disable': /each parameter once/,
    'postgres://h?sslnegotiation=direct&sslmode=disable': /an sslmode that encrypts/,
    'postgres://h?uselibpqcompat=true&sslmode=verify-ca': /must have sslrootcert/,
    'sqlite://me:geheim@h/pets': /must be sqlite:PATH or postgres/,
    'sqlite:postgres://me:geheim@h/pets': /must be sqlite:PATH or postgres/,
    'postgres:/me:geheim@h/pets': /must be sqlite:PATH or postgres/,
  };
  for (const [url, issue] of Object.entries(cases)) {
    assert.match(findDatabaseUrlIssue(url) ?? 'no issue', issue, url);
    assert.doesNotMatch(findDatabaseUrlIssue(url) ?? '', /geheim/);
  }
});

test('an address of Redis is read in one way', () => {
  const bare = { user: undefined, password: undefined, host: 'localhost', port: 6379, database: 0 };
  const cases: Record<string, Record<string, unknown>> = {
    'redis://': bare,
    'redis://:a%40b@[::1]:7/2': { ...bare, password: 'a@b', host: '::1', port: 7, database: 2 },
    'rediss://me:pw@redis.example/': { ...bare, user: 'me', password: 'pw', host: 'redis.example' },
  };
  for (const [url, fields] of Object.entries(cases))
    assert.deepEqual(parseRedisUrl(url), { ...fields, isEncrypted: url.startsWith('rediss') }, url);
  for (const url of ['redis://h/geheim', 'redis://h/1/2', 'redis://h/-1', 'redis://a,b', 'redis://h:0'])
    assert.throws(() => parseRedisUrl(url), UrlError, url);
});

/** Stands in every password. */
const SECRET = 'geheim';

const special = fc.array(fc.constantFrom(...'@:/#?%&=+,;[]\\ \t\u0000é𝒳12'), { maxLength: 3 });

const anyPassword = fc
  .tuple(special, special)
  .map(([before, after]) => before.join('') + SECRET + after.join(''));

test('every user, password and database comes back when it is encoded', () => {
  const text = fc.string({ minLength: 1, unit: 'binary' }).filter((each) => !each.includes('\0'));
  fc.assert(
    fc.property(text, text, text, (user, password, database) => {
      const [first, second, third] = [user, password, database].map(encodeURIComponent);
      assert.deepEqual(readFields(`postgres://${first}:${second}@h:5432/${third}`), {
        host: 'h',
        port: 5_432,
        user,
        password,
        database,
      });
    }),
  );
});

/** Addresses with a password, encoded or not, and with one other thing wrong. */
const anyUrl = fc
  .record({
    scheme: fc.constantFrom(
      'postgres://',
      'postgresql://',
      'redis://',
      'rediss://',
      'postgres:',
      'sqlite://',
    ),
    user: fc.constantFrom('', 'me', 'me%', 'me@server'),
    password: fc.oneof(anyPassword, anyPassword.map(encodeURIComponent)),
    // Without its @, a password can look like a host, a port, a user, or what comes behind them: docs/design/cli.md.
    at: fc.constantFrom('@', '@@', ' @'),
    server: fc.constantFrom('127.0.0.1:1', '[::1]:1', '::1', 'h,i', 'h:99999', ':1', '127.0.0.1:1:2'),
    rest: fc.constantFrom(
      '',
      '/',
      '/pets',
      '/pets/',
      '/a b',
      '/0',
      '/pets#x',
      '/p?sslmode=x',
      '?a=b@c',
      '/%',
    ),
    places: fc.constantFrom('user', 'parameter'),
  })
  .map(({ scheme, user, password, at, server, rest, places }) =>
    places === 'user'
      ? `${scheme}${user}:${password}${at}${server}${rest}`
      : `${scheme}${user}@${server}${rest}${rest.includes('?') ? '&' : '?'}password=${password}`,
  )
  // Without an @, it is the path of a file.
  .filter((url) => !url.includes('\0') && (!url.startsWith('sqlite') || url.includes('@')));

test('no message shows a password, whatever is wrong with the address', async (t) => {
  const database = temporaryEnvironment(t);
  await fc.assert(
    fc.asyncProperty(anyUrl, async (url) => {
      const name = url.startsWith('redis') ? 'REDIS_URL' : 'DATABASE_URL';
      for (const args of [['config'], ['config', '--json'], ['bans', 'list']]) {
        const { stdout, stderr } = await run(args, { ...database, [name]: url });
        assert.doesNotMatch(stdout + stderr, new RegExp(SECRET), `${url}: ${stdout}${stderr}`);
      }
      const { stdout, stderr } = await run(['copy', '--from', url, '--to', 'sqlite:none.db'], {});
      assert.doesNotMatch(stdout + stderr, new RegExp(SECRET), `${url}: ${stdout}${stderr}`);
    }),
    { numRuns: 300, examples: [['postgres://@127.0.0.1:1?password=&geheim=']] },
  );
});
