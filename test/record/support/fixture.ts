import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Whether to write the fixtures instead of comparing them. */
export const IS_RECORDING = process.env['UPDATE_RECORD'] === '1';

/** What was seen, by a name that says what was done. */
export type Record_ = ReadonlyMap<string, string>;

const HEADING = '=== ';

/** Replaces what depends on the clock of the database or of Redis. */
export type Mask = (text: string) => string;

/**
 * Compares what was seen with the fixture `name`. The back end whose `variant` is undefined fills the fixture. Another one
 * shares it, and a file of its own holds only what differs once both are masked.
 */
export function compareRecord(
  name: string,
  seen: Record_,
  variant?: { readonly name: string; readonly mask: Mask },
): void {
  const file = fixtureFile(name);
  const shared = readRecord(file);
  if (variant === undefined) {
    if (IS_RECORDING) writeRecord(file, seen);
    else assertSame(seen, shared);
    return;
  }
  const { mask } = variant;
  const ownFile = fixtureFile(`${name}.${variant.name}`);
  const masked = mapValues(seen, mask);
  const own = IS_RECORDING
    ? new Map([...masked].filter(([title, text]) => text !== mask(shared.get(title) ?? '')))
    : readRecord(ownFile);
  if (IS_RECORDING) writeRecord(ownFile, own);
  else {
    const expected = new Map<string, string>([...masked.keys()].map((title) => [title, '']));
    for (const [title, text] of shared) if (masked.has(title)) expected.set(title, mask(text));
    for (const [title, text] of own) expected.set(title, text);
    assertSame(masked, expected);
  }
}

function mapValues(record: Record_, change: Mask): Record_ {
  return new Map([...record].map(([title, text]) => [title, change(text)]));
}

function assertSame(seen: Record_, expected: Record_): void {
  const changes: string[] = [];
  for (const [title, text] of expected) {
    const now = seen.get(title);
    if (now === text) continue;
    const lines = now === undefined ? '+ (nothing)' : changedLines(text, now);
    changes.push(`${HEADING}${title}\n${lines}`);
  }
  for (const [title, text] of seen)
    if (!expected.has(title)) changes.push(`${HEADING}${title}\n- (not recorded)\n${prefixed('+', text)}`);
  assert.ok(
    changes.length === 0,
    `${changes.length} of ${expected.size} answers are not as recorded:\n\n${changes.join('\n\n')}\n\nIf that is meant, record again: UPDATE_RECORD=1 (test/record/README.md).`,
  );
}

/** The lines that differ, between the ones that both begin and end with. */
function changedLines(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  return [
    prefixed(' ', old.slice(0, start).join('\n')),
    prefixed('-', old.slice(start, old.length - end).join('\n')),
    prefixed('+', now.slice(start, now.length - end).join('\n')),
    prefixed(' ', end === 0 ? '' : old.slice(-end).join('\n')),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function prefixed(sign: string, text: string): string {
  return text === '' ? '' : text.replaceAll(/^/gm, `${sign} `);
}

function fixtureFile(name: string): URL {
  return new URL(`../fixtures/${name}.txt`, import.meta.url);
}

function readRecord(file: URL): Record_ {
  if (!existsSync(file)) return new Map();
  const [, ...parts] = `\n${readFileSync(file, 'utf8')}`.split(`\n${HEADING}`);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1).replace(/\n$/, '')];
    }),
  );
}

function writeRecord(file: URL, record: Record_): void {
  if (record.size === 0) return rmSync(file, { force: true });
  writeFileSync(file, [...record].map(([title, text]) => `${HEADING}${title}\n${text}\n`).join('\n'));
}
