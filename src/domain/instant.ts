// Contract: section 2.

/** The message about an invalid date-time. */
export const NO_INSTANT = 'must be a date-time of RFC 3339, such as 2027-01-15T10:00:00+01:00';

/** The first and the last instant of a date-time, 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z, in Unix milliseconds. */
export const FIRST_INSTANT = -62_167_219_200_000;
export const LAST_INSTANT = 253_402_300_799_999;

/** Unix milliseconds as a date-time in UTC. */
export function textFromInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The same, or undefined when there is no instant. */
export function textIfInstant(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : textFromInstant(milliseconds);
}

/** The same, or null when there is no instant. */
export function instantOrNull(milliseconds: number | null | undefined): string | null {
  return milliseconds === undefined || milliseconds === null ? null : textFromInstant(milliseconds);
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)t(\d\d:\d\d:\d\d)(\.\d+)?(z|[+-]\d\d:\d\d)$/i;

/**
 * The instant of a date-time of RFC 3339 in Unix milliseconds, or undefined for any other text. Smaller fractions of a
 * second are cut off. The year in UTC must be 0000 to 9999. A leap second is refused, because Unix time has none.
 */
export function instantFromText(text: string): number | undefined {
  const [, date, time, fraction = '', zone = ''] = DATE_TIME.exec(text) ?? [];
  if (date === undefined) return undefined;
  const utc = `${date}T${time}${fraction.slice(0, 4)}Z`;
  const local = Date.parse(utc);
  // Date.parse takes 30 February for 2 March, and 24:00:00 for the next day.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 19) !== utc.slice(0, 19))
    return undefined;
  const [hours = Number.NaN, minutes = Number.NaN] = /z/i.test(zone)
    ? [0, 0]
    : zone.slice(1).split(':').map(Number);
  if (!(hours <= 23 && minutes <= 59)) return undefined;
  const instant = local - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return instant >= FIRST_INSTANT && instant <= LAST_INSTANT ? instant : undefined;
}
