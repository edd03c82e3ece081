#!/usr/bin/env node
// Plain JavaScript of an old kind: an older Node.js must be able to read it, to be refused in one sentence.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const NODE = 26;
const SQLITE = [3, 51, 3];
const ADVICE =
  'run `npm ci` and then `npm start` or `npx petstore`, which use the Node.js that this project brings.';

const node = Number(process.versions.node.split('.')[0]);
const sqlite = (process.versions.sqlite || '0').split('.').map(Number);
const difference = SQLITE.map((part, index) => (sqlite[index] || 0) - part).find((part) => part !== 0) || 0;

if (node < NODE) {
  console.error(`petstore needs Node.js ${NODE} or later, and this is ${process.version}: ${ADVICE}`);
  process.exitCode = 1;
} else if (difference < 0) {
  console.error(
    `petstore needs SQLite ${SQLITE.join('.')} or later, and this Node.js has ${process.versions.sqlite}: ${ADVICE}`,
  );
  process.exitCode = 1;
} else {
  // Node.js opens its debugger on SIGUSR1 unless the signal has a handler, and the debugger can read every key in memory.
  // A handler works however the program is started; `--disable-sigusr1` would have to be in every way to start it.
  process.on('SIGUSR1', () => undefined);
  // Keeps the stripped and compiled sources for the next start, which then takes less than half the time. Told by the
  // environment, threads know it, too.
  process.env.NODE_COMPILE_CACHE =
    process.env.NODE_COMPILE_CACHE ||
    fileURLToPath(new URL('../node_modules/.cache/petstore', import.meta.url));
  module.enableCompileCache?.();
  void import('../src/cli/main.ts').then(({ main }) => main(process.argv));
}
