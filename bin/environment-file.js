// Reads a file of systemd on standard input, and prints its variables as lines for a shell: see deploy/systemd/petstore.sh.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { exportLines, readEnvironmentFile } from '../src/config/environment-file.ts';

const checkout = fileURLToPath(new URL('..', import.meta.url));
try {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(0));
  process.stdout.write(exportLines(readEnvironmentFile(text), checkout));
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error('petstore: The file of variables is not UTF-8, so systemd does not read it.');
  process.exitCode = 1;
}
