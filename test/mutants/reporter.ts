import { appendFileSync } from 'node:fs';
import process, { env } from 'node:process';
import type { TestEvent } from 'node:test/reporters';

/** Notes in MUTANTS_NOTES which rounds fail. With MUTANTS_STOP, it ends the process at the first failure. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let round = '';
  for await (const { type, data } of events) {
    if (type === 'test:start' && data.nesting === 0) round = data.name;
    if (type === 'test:fail' && data.todo === undefined) {
      const mayEnd = env['MUTANTS_STOP'] !== undefined;
      if (mayEnd || data.nesting === 0) appendFileSync(env['MUTANTS_NOTES'] ?? '', `failed ${round}\n`);
      if (mayEnd) process.exit(1);
    }
    yield '';
  }
}
