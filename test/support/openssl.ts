import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';
import { program } from './servers.ts';
import { temporaryFolder } from './temporary.ts';

/** A key and a certificate for shop.example, in files of a temporary folder. */
export function makeCertificate(t: Lifetime, kind = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']) {
  const folder = temporaryFolder(t);
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=shop.example', '-addext', 'subjectAltName=DNS:shop.example'];
  const options = ['-newkey', ...kind, '-nodes', '-days', '1', '-keyout', keyFile, '-out', certificateFile];
  execFileSync(program('openssl', 'openssl'), ['req', '-x509', ...options, ...subject], { stdio: 'pipe' });
  return { folder, keyFile, certificateFile };
}

/** An endpoint by `openssl s_server`, which takes what Node.js refuses. */
export async function startOpenssl(t: Lifetime, options: readonly string[]) {
  const { folder, keyFile, certificateFile } = makeCertificate(t, ['rsa:2048']);
  const server = spawn(
    program('openssl', 'openssl'),
    ['s_server', '-accept', '127.0.0.1:0', '-key', keyFile, '-cert', certificateFile, ...options],
    { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  t.after(() => server.kill('SIGKILL'));
  let output = '';
  server.stdout.setEncoding('utf8');
  for await (const chunk of server.stdout) {
    output += chunk;
    const [, port] = /ACCEPT .*:(\d+)\n/.exec(output) ?? [];
    if (port !== undefined) return { port: Number(port), ca: readFileSync(certificateFile, 'utf8') };
  }
  throw new Error('openssl has ended');
}

/** Parameters for an exchange of keys, in the form of OpenSSL. Nobody checks whether the number is a prime. */
export function writeGroup(t: Lifetime, bits: number): string {
  const prime = Buffer.alloc(bits / 8, 0xff);
  const integer = Buffer.concat([Buffer.from([2, 0x82, 0, 0, 0]), prime]);
  integer.writeUInt16BE(prime.length + 1, 2);
  const head = Buffer.from([0x30, 0x82, 0, 0]);
  const two = Buffer.from([2, 1, 2]);
  head.writeUInt16BE(integer.length + two.length, 2);
  const text = Buffer.concat([head, integer, two]).toString('base64');
  const path = join(temporaryFolder(t), 'group.pem');
  writeFileSync(path, `-----BEGIN DH PARAMETERS-----\n${text}\n-----END DH PARAMETERS-----\n`);
  return path;
}
