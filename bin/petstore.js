#!/usr/bin/env node
// Plain old JavaScript, so that every Node.js can run it and print in one sentence what is needed.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** The major version whose internals `packages/direct-http/src/node.ts` knows. */
const NODE = 26;
const SQLITE = [3, 51, 3];
const ADVICE =
  'run `npm ci` and then `npm start` or `npx petstore`, which use the Node.js that this project brings.';

const node = Number(process.versions.node.split('.')[0]);
const sqlite = (process.versions.sqlite || '0').split('.').map(Number);
const difference = SQLITE.map((part, index) => (sqlite[index] || 0) - part).find((part) => part !== 0) || 0;

if (node !== NODE) {
  console.error(`petstore needs Node.js ${NODE}, and this is ${process.version}: ${ADVICE}`);
  process.exitCode = 1;
} else if (difference < 0) {
  console.error(
    `petstore needs SQLite ${SQLITE.join('.')} or later, and this Node.js has ${process.versions.sqlite}: ${ADVICE}`,
  );
  process.exitCode = 1;
} else {
  // Without a handler, Node.js opens its debugger on SIGUSR1, and the debugger can read every key in memory. The option
  // `--disable-sigusr1` works earlier, in the first 50 ms too, but has to be in every command that starts the program.
  process.on('SIGUSR1', () => undefined);
  // Caches the stripped and compiled sources, so the next start takes less than half the time. Set in the environment,
  // because threads read it there too.
  process.env.NODE_COMPILE_CACHE =
    process.env.NODE_COMPILE_CACHE ||
    fileURLToPath(new URL('../node_modules/.cache/petstore', import.meta.url));
  module.enableCompileCache?.();
  void import('../src/cli/main.ts')
    .then(({ main }) => main(process.argv.slice(2), process))
    .then((status) => {
      process.exitCode = status;
    });
}
