import { InvalidArgumentError } from 'commander';
import { LABEL } from '../domain/account.ts';
import { refuseScopeAlone, SCOPES, type Scope } from '../domain/scope.ts';
import { FIRST_INSTANT, LAST_INSTANT } from '../domain/instant.ts';
import { INT64_MAX } from '../domain/int64.ts';

/** Milliseconds. */
const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Days: ten years. A longer duration is a typing error. */
const DURATION_MAX = 3_650;

/** A parser for commander of whole numbers in this range, both ends included. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,16}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** The number of a key, a token, a passkey or a webhook. */
export const readId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

/** The number of an animal or an order, which can be any positive int64. */
export function readRowId(text: string): bigint {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  if (id >= 1n && id <= INT64_MAX) return id;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${INT64_MAX}.`);
}

/** Scopes separated by commas. */
export function readScopes(text: string): readonly Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Allowed scopes are ${SCOPES.join(', ')}, separated by commas.`);
  const chosen = SCOPES.filter((scope) => names.includes(scope));
  const alone = refuseScopeAlone(chosen);
  if (alone !== undefined) throw new InvalidArgumentError(alone);
  return chosen;
}

/** The label of a key. */
export function readLabel(text: string): string {
  if (LABEL.test(text)) return text;
  throw new InvalidArgumentError('A label has 1 to 100 characters, no control characters and no API key.');
}

/** A duration such as `0`, `90s`, `30m`, `24h` or `7d`, in milliseconds. */
export function readDuration(text: string): number {
  const match = /^(?:0|(\d{1,9})([smhd]))$/.exec(text);
  const [, count = '0', unit = 's'] = match ?? [];
  const milliseconds = Number(count) * UNITS[unit as keyof typeof UNITS];
  if (match !== null && milliseconds <= DURATION_MAX * UNITS.d) return milliseconds;
  throw new InvalidArgumentError(
    `It must be a duration such as 0, 90s, 30m, 24h or 7d, up to ${DURATION_MAX}d.`,
  );
}

/** An instant in Unix milliseconds, given the present one. */
export type Instant = (now: number) => number;

/** A duration before now, a date, or an ISO 8601 instant. */
export function readSince(text: string): Instant {
  if (!/^\d+[smhd]$/.test(text)) return readInstant(text);
  const ago = readDuration(text);
  return (now) => Math.floor(now) - ago;
}

/** A duration from now, a date, which begins at midnight UTC, or an ISO 8601 instant. */
export function readInstant(text: string): Instant {
  if (/^\d+[smhd]$/.test(text)) {
    const fromNow = readDuration(text);
    return (now) => Math.floor(now) + fromNow;
  }
  const epoch = parseInstant(text);
  // The API writes an instant as a date-time, whose year has four digits.
  if (epoch !== undefined && epoch >= FIRST_INSTANT && epoch <= LAST_INSTANT) return () => epoch;
  throw new InvalidArgumentError(
    'It must be a date (2027-01-01), an instant (2027-01-01T12:00:00Z) or a duration (90d).',
  );
}

function parseInstant(text: string): number | undefined {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  try {
    return Temporal.Instant.from(isDate ? `${text}T00:00Z` : text).epochMilliseconds;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}
