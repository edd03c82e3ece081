import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import type { Bench } from './runs.ts';

/** A mutant made by hand, and a test that must notice it: if it lives, the program and not the test is at fault. */
interface HandmadeMutant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly test: string;
}

const HANDMADE: readonly HandmadeMutant[] = [
  {
    file: 'src/domain/int64.ts',
    from: 'value >= INT64_MIN && value',
    to: 'value > INT64_MIN && value',
    test: 'test/domain/int64.test.ts',
  },
  // What is computed while a module loads.
  {
    file: 'src/domain/int64.ts',
    from: '= 2n ** 63n - 1n',
    to: '= 2n ** 63n',
    test: 'test/domain/int64.test.ts',
  },
  {
    file: 'src/limits/quota.ts',
    from: 'current.dayCount >= limits.perDay',
    to: 'current.dayCount > limits.perDay',
    test: 'test/limits/quota.test.ts',
  },
  {
    file: 'src/limits/ban.ts',
    from: '2 ** (count - 1)',
    to: '2 ** count',
    test: 'test/limits/ban.test.ts',
  },
  {
    file: 'src/limits/memory.ts',
    from: 'if (!this.#unwritten.has(name)) callers.delete(name);',
    to: 'callers.delete(name);',
    test: 'test/limits/memory-flush.test.ts',
  },
  // It does not end.
  {
    file: 'src/domain/chunks.ts',
    from: 'from += size',
    to: 'from += 0',
    test: 'test/domain/chunks.test.ts',
  },
  {
    file: 'src/resources/pets/rules.ts',
    from: "to: 'sold'",
    to: "to: 'available'",
    test: 'src/resources/pets/rules.test.ts',
  },
  // The writing thread of SQLite.
  {
    file: 'src/resources/categories/repository.ts',
    from: 'const version = row.version + 1',
    to: 'const version = row.version',
    test: 'src/resources/categories/repository.test.ts',
  },
  {
    file: 'src/http/address.ts',
    from: '.slice(0, 4)',
    to: '.slice(0, 5)',
    test: 'test/http/address.test.ts',
  },
  // A program that the test starts.
  {
    file: 'src/http/connection-limit.ts',
    from: 'if (count > limit)',
    to: 'if (false)',
    test: 'test/http/connection-limit.test.ts',
  },
];

/** Milliseconds. */
const PATIENCE = 30_000;

/** Whether each of them dies. */
export async function proveRunner(bench: Bench, folder: string): Promise<boolean> {
  let isProven = true;
  for (const [index, { file, from, to, test }] of HANDMADE.entries()) {
    const source = readFileSync(file, 'utf8');
    const isThere = source.includes(from);
    const place = join(folder, file);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, stripTypeScriptTypes(source.replace(from, to)));
    const { verdict } = await bench.run([{ test, limit: PATIENCE }], {
      MUTANTS_FOLDER: folder,
      MUTANT: `${file}#${index}`,
    });
    const outcome = isThere ? verdict : 'gone: choose another place';
    console.log(`${outcome}: ${file}: ${from} → ${to}`);
    isProven &&= isThere && verdict !== 'passed';
  }
  return isProven;
}
