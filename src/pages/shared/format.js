import { html } from 'htm/preact';
import { serviceTime } from './fetch.js';

const WHOLE = new Intl.NumberFormat('en');
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const SHARE = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Seconds of each unit, the longest first. */
const UNITS = /** @type {const} */ ([
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]);

/** All digits in groups: `10,000,000`. @param {number} value */
export const number = (value) => WHOLE.format(value);

/** `12 ms`; without a unit, the value alone. @param {string} value @param {string | undefined} unit */
export const withUnit = (value, unit) => (unit === undefined ? value : `${value} ${unit}`);

/** At most three digits: `9.8M`, for axes and places with little room. @param {number} value */
export const compact = (value) => COMPACT.format(value);

/** `12.5%`; 0% of nothing. @param {number} part @param {number} whole */
export const share = (part, whole) => SHARE.format(whole === 0 ? 0 : part / whole);

/** An instant in UTC: `2026-11-23 14:05 UTC`. @param {Date} date */
export const utc = (date) => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** An instant in UTC with its second: `2026-11-23 14:05:12 UTC`. @param {Date} date */
export const utcSecond = (date) => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** A day in UTC: `2026-11-23`. @param {Date} date */
export const day = (date) => date.toISOString().slice(0, 10);

/** An instant in the time zone of the browser: `23 Nov 2026, 15:05 CET`. @param {Date} date */
export function local(date) {
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(date);
}

/** An instant in UTC and, where the browser has another time, in that too. @param {Date} date @param {string} [text] it in UTC */
export function everywhere(date, text = utc(date)) {
  return date.getTimezoneOffset() === 0 ? text : `${text}, here ${local(date)}`;
}

/** How far `date` is from `now`: `2 hours ago`, `in 5 minutes`, `now`. @param {Date} date @param {Date} now */
function relative(date, now) {
  const seconds = Math.round((date.getTime() - now.getTime()) / 1000);
  const [unit, length] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? ['second', 1];
  return AGO.format(Math.trunc(seconds / length), unit);
}

/** A length of time in its two largest units: `1 day 3 hours`. @param {number} seconds */
export function duration(seconds) {
  const parts = [];
  let rest = Math.max(0, Math.ceil(seconds));
  for (const [unit, length] of [...UNITS, /** @type {const} */ (['second', 1])]) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
  }
  return parts.slice(0, 2).join(' ') || '0 seconds';
}

/**
 * An instant in UTC. Its title shows it in the time zone of the browser.
 * @param {{ at: string, isRelative?: boolean, isExact?: boolean }} props `isRelative`: how far away it is now, with UTC in
 *   the title too; `isExact`: with seconds
 */
export function Time({ at, isRelative = false, isExact = false }) {
  const date = new Date(at);
  const exact = isExact ? utcSecond(date) : utc(date);
  const title = isRelative ? everywhere(date) : local(date);
  return html`<time class="fixed" datetime=${at} title=${title}>${isRelative ? relative(date, serviceTime()) : exact}</time>`;
}

/** A day in UTC. Its title has the whole instant. @param {{ at: string }} props */
export function Day({ at }) {
  const date = new Date(at);
  return html`<time class="fixed" datetime=${at} title=${everywhere(date)}>${day(date)}</time>`;
}
