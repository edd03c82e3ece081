import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GROUPS } from './groups.ts';

/* Loads each file that is tried, and does nothing else: it reaches the mutants that are decided while a file loads. */

for (const { pattern } of GROUPS)
  for (const file of globSync(pattern))
    if (!file.endsWith('.test.ts')) await import(pathToFileURL(resolve(file)).href);
