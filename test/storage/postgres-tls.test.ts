// TLS with PostgreSQL as docs/operating.md shows it. Contract: section 7.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { Client } from 'pg';
import { makeAuthority } from '../support/authority.ts';
import { startPostgres } from '../support/postgres.ts';
import { run, runProcess } from '../support/process.ts';
import { serverFolder, serverUser } from '../support/servers.ts';
import { TEMPORARY, temporaryFolder } from '../support/temporary.ts';
import { startForFile, test } from '../support/test.ts';

const PASSWORD = 'a%b@c/d#e?f g:h&i=j+k';

const { server, authority, visitor } = await startForFile(async () => {
  const user = serverUser();
  const folder = serverFolder('tls', TEMPORARY, user);
  after(() => rmSync(folder, { recursive: true }));
  const signer = makeAuthority(folder, user);
  const { keyFile, certificateFile } = signer.sign('server', 'DNS:localhost');
  const settings = { ssl_cert_file: certificateFile, ssl_key_file: keyFile, ssl_ca_file: signer.file };
  const started = await startPostgres(
    ['fsync=off', 'ssl=on', ...Object.entries(settings).map(([name, file]) => `${name}=${file}`)],
    [
      'hostssl all petstore 127.0.0.1/32 scram-sha-256',
      'hostssl all visitor 127.0.0.1/32 cert',
      'host all petstore,visitor 127.0.0.1/32 reject',
    ],
  );
  after(() => started.stop());
  const client = new Client({ connectionString: started.url });
  await client.connect();
  await client.query(`CREATE ROLE petstore LOGIN PASSWORD '${PASSWORD}'`);
  await client.query('CREATE DATABASE petstore OWNER petstore');
  await client.query('CREATE ROLE visitor LOGIN');
  await client.query('CREATE DATABASE visitors OWNER visitor');
  await client.end();
  return { server: started, authority: signer, visitor: signer.sign('visitor', 'DNS:visitor') };
});

/** The address in the documentation, of this server and with its authority. */
function documentedUrl({ host = 'localhost', ca = authority.file } = {}): string {
  const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, line = ''] = /^DATABASE_URL=(postgres:\S+sslrootcert=\S+)$/m.exec(page) ?? [];
  const url = line
    .replace('…', encodeURIComponent(PASSWORD))
    .replace('db.example', `${host}:${server.port}`)
    .replace('/etc/petstore/db-ca.pem', ca);
  assert.match(url, /sslmode=verify-full/);
  return url;
}

/** The one line with which a command refuses an address. */
async function refusal(url: string): Promise<string> {
  const { code, stderr } = await run(['migrate'], { DATABASE_URL: url });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^petstore: The PostgreSQL database cannot be used: [^\n]+\n$/);
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) assert.ok(!stderr.includes(secret), stderr);
  return stderr;
}

test('the documented address connects with TLS', async () => {
  const { code, stderr } = await run(['migrate'], { DATABASE_URL: documentedUrl() });
  assert.equal(code, 0, stderr);
});

test('a certificate for another name is refused, and so is that of another authority', async (t) => {
  assert.match(await refusal(documentedUrl({ host: '127.0.0.1' })), /IP: 127\.0\.0\.1 is not in the cert/);
  const other = makeAuthority(temporaryFolder(t));
  assert.match(await refusal(documentedUrl({ ca: other.file })), /certificate/);
  assert.match(await refusal(documentedUrl().replace(/&sslrootcert=.*/, '')), /certificate/);
});

test('a file of certificates that cannot be read is named', async () => {
  const file = join(TEMPORARY, 'no-such-authority.pem');
  assert.match(await refusal(documentedUrl({ ca: file })), new RegExp(`sslrootcert: ENOENT.*'${file}'`));
});

test('sslmode=require verifies, too, and prints no warning', async () => {
  const url = documentedUrl().replace('verify-full', 'require');
  const { code, stderr } = await runProcess(['migrate'], { DATABASE_URL: url });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(await refusal(url.replace('localhost', '127.0.0.1')), /is not in the cert/);
});

test('an address chooses to verify the authority alone, or nothing', async () => {
  const elsewhere = documentedUrl({ host: '127.0.0.1' });
  for (const mode of ['no-verify', 'verify-ca&uselibpqcompat=true', 'require&uselibpqcompat=true']) {
    const { code, stderr } = await run(['migrate'], { DATABASE_URL: elsewhere.replace('verify-full', mode) });
    assert.equal(code, 0, `${mode}: ${stderr}`);
  }
});

test('without sslmode nothing is encrypted, which the server refuses', async () => {
  assert.match(await refusal(documentedUrl().replace(/\?.*/, '')), /no encryption/);
});

test('a certificate of the service takes the place of a password', async () => {
  const files = `sslrootcert=${authority.file}&sslcert=${visitor.certificateFile}&sslkey=${visitor.keyFile}`;
  const url = `postgres://visitor@localhost:${server.port}/visitors?${files}`;
  const { code, stderr } = await run(['migrate'], { DATABASE_URL: url });
  assert.equal(code, 0, stderr);
  assert.match(await refusal(url.replace(/&sslcert.*/, '')), /certificate/);
});
