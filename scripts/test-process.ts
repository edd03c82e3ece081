import { argv, env } from 'node:process';
import { relative } from 'node:path';
import { measureProcessorTime, noteCost } from './test-costs.ts';

/* Loaded before a test file that has a process of its own: notes what the process cost. */

const folder = env['TEST_QUEUE'];
const file = argv[1];
if (folder !== undefined && file?.endsWith('.test.ts'))
  process.once('exit', () => noteCost(folder, relative('.', file), measureProcessorTime()));
