import { after, test as nodeTest, type TestContext, type TestOptions } from 'node:test';
import { MissingProgram } from './servers.ts';

type TestBody = (t: TestContext) => unknown;

/** What `startForFile` could not start. All tests of the file need it. */
let missing: MissingProgram | undefined;

/**
 * The `test` of `node:test` for tests that start programs. If a program is missing, the test is skipped, with the reason and
 * how to get the program.
 */
export function test(name: string, ...rest: [body: TestBody] | [options: TestOptions, body: TestBody]): void {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
  if (missing !== undefined) {
    void nodeTest(name, { ...options, skip: missing.message });
    return;
  }
  void nodeTest(name, options, async (t) => {
    try {
      await body(t);
    } catch (error) {
      if (!(error instanceof MissingProgram)) throw error;
      t.skip(error.message);
    }
  });
}

/**
 * What `start` gives, for all tests of a file. If a program is missing, it gives an empty object, which no test sees: `test`
 * skips all tests of the file.
 */
export async function startForFile<Started extends object>(start: () => Promise<Started>): Promise<Started> {
  try {
    if (missing === undefined) return await start();
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error;
    missing = error;
    after(() => {
      missing = undefined;
    });
  }
  return {} as Started;
}
