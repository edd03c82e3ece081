import process from 'node:process';
import type { TestEvent } from 'node:test/reporters';

/** Ends the process at the first failure. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:fail' && event.data.todo === undefined) {
      if (process.env['MUTANTS_VERBOSE'] !== undefined)
        console.error(event.data.name, event.data.details.error);
      process.exit(1);
    }
    yield '';
  }
}
