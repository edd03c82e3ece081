import { execFileSync } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from './servers.ts';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** An authority that signs certificates, with all files in `folder`. Keys belong to `user`, because servers insist. */
export function makeAuthority(folder: string, user?: { uid: number; gid: number }) {
  const openssl = (...args: readonly string[]) =>
    execFileSync(program('openssl', 'openssl'), args, { cwd: folder, stdio: 'pipe' });
  openssl(
    'req',
    '-x509',
    ...KEY,
    '-days',
    '1',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=Authority',
  );
  return {
    file: join(folder, 'ca.pem'),
    /** `names` are those of the certificate, such as `DNS:localhost`. */
    sign(subject: string, names: string) {
      const file = (extension: string) => join(folder, `${subject}.${extension}`);
      writeFileSync(file('ext'), `subjectAltName=${names}\n`);
      openssl('req', '-new', ...KEY, '-keyout', file('key'), '-out', file('csr'), '-subj', `/CN=${subject}`);
      const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1'];
      openssl('x509', '-req', '-in', file('csr'), ...signer, '-extfile', file('ext'), '-out', file('pem'));
      if (user !== undefined) chownSync(file('key'), user.uid, user.gid);
      return { keyFile: file('key'), certificateFile: file('pem') };
    },
  };
}
