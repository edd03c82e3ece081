import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Whether to write the fixtures instead of comparing them. */
const IS_RECORDING = process.env['UPDATE_RECORD'] === '1';

/** What was seen, by a title that says what was done. */
export type Seen = ReadonlyMap<string, string>;

const HEADING = '=== ';

/** Compares what was seen with a fixture. The first of several comparisons in a process is the one that records. */
export function compareRecord(name: string, seen: Seen): void {
  const file = new URL(`../fixtures/${name}.txt`, import.meta.url);
  if (IS_RECORDING && !recorded.has(name)) {
    writeFileSync(file, [...seen].map(([title, text]) => `${HEADING}${title}\n${text}\n`).join('\n'));
    recorded.add(name);
  }
  const [, ...parts] = `\n${readFileSync(file, 'utf8')}`.split(`\n${HEADING}`);
  const expected = new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1).replace(/\n$/, '')];
    }),
  );
  const changed = [...new Set([...expected.keys(), ...seen.keys()])].filter(
    (title) => seen.get(title) !== expected.get(title),
  );
  const pick = (all: Seen) =>
    Object.fromEntries(changed.map((title) => [title, all.get(title)?.split('\n')]));
  assert.deepEqual(
    pick(seen),
    pick(expected),
    `${changed.length} of ${expected.size} are not as recorded. If that is meant, record again (test/record/README.md).`,
  );
}

const recorded = new Set<string>();
