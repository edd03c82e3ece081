import { setTimeout } from 'node:timers/promises';
import { main } from '../../src/cli/main.ts';

// The command line as a process of its own, for which a second passes in a millisecond.
process.exitCode = await main(process.argv.slice(2), process, (milliseconds, signal) =>
  setTimeout(milliseconds / 1_000, undefined, { signal }),
);
