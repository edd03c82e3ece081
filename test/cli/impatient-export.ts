import { setTimeout } from 'node:timers/promises';
import { main } from '../../src/cli/main.ts';

// The command line as a process of its own, for which a second passes in a millisecond.
await main(process.argv, (milliseconds, signal) => setTimeout(milliseconds / 1_000, undefined, { signal }));
