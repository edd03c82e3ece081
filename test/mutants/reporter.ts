import { appendFileSync } from 'node:fs';
import process, { env } from 'node:process';
import type { TestEvent } from 'node:test/reporters';

/** Ends the process at the first failure, or notes in MUTANTS_NOTES which suites of a batch fail. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const notes = env['MUTANTS_NOTES'];
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.todo === undefined) {
      if (notes === undefined) process.exit(1);
      if (data.nesting === 0) appendFileSync(notes, `failed ${data.name}\n`);
    }
    yield '';
  }
}
