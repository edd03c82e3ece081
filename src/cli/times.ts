import { InvalidArgumentError } from 'commander';

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const DAYS_MAX = 3_650;

/** A duration such as `0`, `90s`, `30m`, `24h` or `7d`, in milliseconds; at most ten years. */
export function duration(text: string): number {
  const match = /^(?:0|(\d{1,9})([smhd]))$/.exec(text);
  const [, count = '0', unit = 's'] = match ?? [];
  const milliseconds = Number(count) * UNITS[unit as keyof typeof UNITS];
  if (match !== null && milliseconds <= DAYS_MAX * UNITS.d) return milliseconds;
  throw new InvalidArgumentError(`It must be a duration such as 0, 90s, 30m, 24h or 7d, up to ${DAYS_MAX}d.`);
}

/** A date, which begins at midnight UTC, or an ISO 8601 instant; in Unix milliseconds. */
export function instant(text: string): number {
  try {
    const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
    return Temporal.Instant.from(isDate ? `${text}T00:00Z` : text).epochMilliseconds;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidArgumentError('It must be a date (2027-01-01) or an instant (2027-01-01T12:00:00Z).');
  }
}
