import { readFileSync } from 'node:fs';
import type { Mutant } from './instrument.ts';

/** A mutant that no test can notice, and why. */
export interface EqualMutant {
  readonly file: string;
  /** What changes, and into what. All mutants of the file that say so are meant, or those of the lines that contain `line`. */
  readonly original: string;
  readonly replacement: string;
  readonly line?: string;
  readonly because: string;
}

const SHORTCUT = 'the shortcut for usual numbers; the way of all others gives the same value';
const NOT_A_NUMBER = 'a comparison with NaN is false too';
const ALWAYS_MATCHES = 'the group always matches; the default is for the compiler';

export const EQUAL: readonly EqualMutant[] = [
  ...[
    ['/^-?[1-9]\\d{0,14}$/.test(source)', 'false'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-[1-9]\\d{0,14}$/'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-?[^1-9]\\d{0,14}$/'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-?[1-9]\\d$/'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-?[1-9]\\D{0,14}$/'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/domain/int64.ts',
    original,
    replacement,
    because: SHORTCUT,
  })),
  {
    file: 'src/domain/int64.ts',
    line: 'const [, sign',
    original: "''",
    replacement: '"Stryker was here!"',
    because: ALWAYS_MATCHES,
  },
  {
    file: 'src/domain/int64.ts',
    original: "'0'",
    replacement: '""',
    line: 'const [, sign',
    because: 'both are the number 0',
  },
  {
    file: 'src/domain/int64.ts',
    original: 'text.length > 20',
    replacement: 'false',
    because: 'a longer number is outside of the range; the length spares the work of converting it',
  },
  {
    file: 'src/resources/accounts/rules.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    line: 'findNoteIssue(',
    because: 'every right note will do for the check of an account that gets none',
  },
  ...[
    ['one < other', 'one <= other'],
    ['a.group < b.group', 'a.group <= b.group'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/resources/usage/rules.ts',
    original,
    replacement,
    because: 'the two differ here',
  })),
  ...[
    [
      'items.push(item) >= most + Math.max(most, MOST_UNSORTED)',
      'items.push(item) > most + Math.max(most, MOST_UNSORTED)',
    ],
    ['most + Math.max(most, MOST_UNSORTED)', 'most - Math.max(most, MOST_UNSORTED)'],
    ['Math.max(most, MOST_UNSORTED)', 'Math.min(most, MOST_UNSORTED)'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/resources/usage/rules.ts',
    original,
    replacement,
    because: 'it only says how often to sort',
  })),
  ...['failingSince !== undefined', 'rotatedAt !== undefined'].map((original) => ({
    file: 'src/resources/webhooks/rules.ts',
    original,
    replacement: 'true',
    because: NOT_A_NUMBER,
  })),
  ...[
    ["''", '"Stryker was here!"'],
    ['[]', '["Stryker was here"]'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/domain/audit.ts',
    original,
    replacement,
    line: 'const [, kind',
    because: 'a text that does not match names no kind of actor, whatever stands in its place',
  })),
  {
    file: 'src/domain/csv.ts',
    original: 'text === undefined',
    replacement: 'false',
    line: 'withoutFormula(text)',
    because: 'what is undefined begins with no character of a formula, and stays undefined',
  },
  ...[
    ['value.length > 2 * max', 'false'],
    ['value.length > max', 'true'],
    ['value.length > max', 'value.length >= max'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/domain/fields.ts',
    original,
    replacement,
    because: 'it spares the work of counting code points',
  })),
  ...[
    ["''", '"Stryker was here!"', ALWAYS_MATCHES],
    ['[]', '["Stryker was here"]', 'without a match the date is still undefined'],
    ['date === undefined', 'false', 'a date-time of undefined parts is none'],
    ['fraction.slice(0, 4)', 'fraction', 'V8 cuts the same digits off'],
  ].map(([original = '', replacement = '', because = '']) => ({
    file: 'src/domain/instant.ts',
    original,
    replacement,
    because,
  })),
  {
    file: 'src/domain/parse.ts',
    original: '/\\d[.eE]|\\d{16}/',
    replacement: '/\\d[.eE]|\\d/',
    because: 'the slower way reads every number',
  },
  ...[
    ["typeof value === 'number' && context?.source !== undefined", 'true'],
    [
      "typeof value === 'number' && context?.source !== undefined",
      "typeof value === 'number' || context?.source !== undefined",
    ],
    ["typeof value === 'number'", 'true'],
    ['context?.source !== undefined', 'true'],
    ['context?.source', 'context.source'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/domain/parse.ts',
    original,
    replacement,
    line: "return typeof value === 'number' &&",
    because: 'only a number has a spelling that is an int64',
  })),
  {
    file: 'src/domain/parse.ts',
    original: "'.'",
    replacement: '""',
    line: 'safeParse({})',
    because: 'an empty object lacks no part of a member',
  },
  {
    file: 'src/domain/patch.ts',
    original: "typeof body !== 'object'",
    replacement: 'false',
    because: 'a text or a number has no field of the schema, and the message is the same',
  },
  {
    file: 'src/domain/nearest.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    because: 'the first character has no neighbour before it to change places with',
  },
  ...[
    ['text.length <= most', 'false'],
    ['text.length <= most', 'text.length < most'],
    ['text.slice(0, 2 * most)', 'text'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/domain/text.ts',
    original,
    replacement,
    because: 'it spares the work of counting code points',
  })),
  ...['/(?!0000)\\d{4}-\\d\\d-\\d\\d$/', '/^(?!0000)\\d{4}-\\d\\d-\\d\\d/'].map((replacement) => ({
    file: 'src/domain/fields.ts',
    original: '/^(?!0000)\\d{4}-\\d\\d-\\d\\d$/',
    replacement,
    because: 'what stands before or behind the day is no part of a date-time, and is refused there',
  })),
  {
    file: 'src/resources/pets/rules.ts',
    original: 'birthDate !== undefined',
    replacement: 'true',
    because: NOT_A_NUMBER,
  },
  {
    file: 'src/domain/account.ts',
    original: 'expiresAt !== undefined',
    replacement: 'true',
    because: NOT_A_NUMBER,
  },
  {
    file: 'src/limits/ban.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    because: 'the first refusal removes what is no recent instant',
  },
  {
    file: 'src/limits/ban.ts',
    original: 'over !== 0',
    replacement: 'true',
    because: 'it then removes nothing',
  },
  {
    file: 'src/limits/ban.ts',
    original: 'refusal !== undefined',
    replacement: 'true',
    because: NOT_A_NUMBER,
  },
  {
    file: 'src/limits/quota.ts',
    original: '!minuteOver && !dayOver',
    replacement: 'false',
    because: 'the counts are equal; it only spares an object',
  },
  {
    file: 'src/limits/memory.ts',
    original: "caller.kind === 'key'",
    replacement: 'true',
    line: 'const record =',
    because: 'another caller has no key, and nothing is recorded of none',
  },
  {
    file: 'src/http/address.ts',
    original: '/^::ffff:(?=\\d+\\.)/',
    replacement: '/::ffff:(?=\\d+\\.)/',
    because: 'a canonical address has a point only behind these characters at its beginning',
  },
  {
    file: 'src/http/body.ts',
    original: 'chunks.length === 1 && chunks[0]',
    replacement: 'false',
    because: 'it spares a copy',
  },
  {
    file: 'src/http/body.ts',
    original: "contentType === 'application/json'",
    replacement: 'false',
    because: 'the shortcut for the usual type; the way of all others gives the same answer',
  },
  {
    file: 'src/http/public-api.ts',
    original: 'key?.scopes',
    replacement: 'key.scopes',
    because: 'the key is known here; the question mark is for the compiler',
  },
  {
    file: 'src/http/failed-request.ts',
    original: "'internal_error'",
    replacement: '""',
    because: 'every error response has a code; the default is for the compiler',
  },
  {
    file: 'src/http/public-api.ts',
    original: "request.method !== 'GET' && request.method !== 'HEAD'",
    replacement: "request.method !== 'GET' || request.method !== 'HEAD'",
    because: 'a GET changes nothing, so nobody reads its actor',
  },
  {
    file: 'src/http/steps.ts',
    original: "'GET'",
    replacement: '""',
    because: 'a GET has neither body nor idempotency key; it spares a turn of the event loop',
  },
  {
    file: 'src/limits/memory.ts',
    original: '!hasEnded(record, now)',
    replacement: 'true',
    line: 'this.#records.set(keyId, record)',
    because: 'it spares memory until the next pruning',
  },
  {
    file: 'src/limits/memory.ts',
    original: 'record.ban?.until !== ban?.until',
    replacement: 'true',
    because: 'it then writes what the store has already',
  },
  ...[
    ['hasEnded(record, now)', 'false'],
    ['this.#records.delete(keyId);', ';'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/limits/memory.ts',
    line: 'this.#records.delete(keyId)',
    original,
    replacement,
    because: 'it spares memory: a record that has ended counts as none',
  })),
  {
    file: 'src/limits/memory.ts',
    original: '++visited',
    replacement: '--visited',
    because: 'a number below zero has the same multiples',
  },
  {
    file: 'src/limits/memory.ts',
    original: 'now.monotonic - minuteStart >= MINUTE',
    replacement: 'now.monotonic - minuteStart > MINUTE',
    because: 'it spares memory until the next flush',
  },
  ...[
    [
      'bannedUntil === undefined || banCount === undefined',
      'bannedUntil === undefined && banCount === undefined',
    ],
    ['bannedUntil === undefined', 'false'],
    ['banCount === undefined', 'false'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/limits/stored.ts',
    original,
    replacement,
    because: 'a row has both columns or neither',
  })),
  ...[
    ['bans.at(-1)?.keyId', 'bans.at(-1).keyId'],
    ['rows.at(-1)?.keyId', 'rows.at(-1).keyId'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/limits/stored.ts',
    original,
    replacement,
    because: 'a full page has a last row; the question mark is for the compiler',
  })),
  {
    file: 'src/limits/stored.ts',
    original: 'last === undefined',
    replacement: 'false',
    because: 'the loop ends as well, one turn of the event loop later',
  },
  {
    file: 'src/limits/stored.ts',
    original: 'row?.[0]',
    replacement: 'row[0]',
    because: 'a count gives a row; the question mark is for the compiler',
  },
];

export function findEqual({ file, line, original, replacement }: Mutant): EqualMutant | undefined {
  return EQUAL.find(
    (each) =>
      each.file === file &&
      each.original === original &&
      each.replacement === replacement &&
      (each.line === undefined || readLine(file, line).includes(each.line)),
  );
}

function readLine(file: string, line: number): string {
  return readFileSync(file, 'utf8').split('\n')[line - 1]?.trim() ?? '';
}
