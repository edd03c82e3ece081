import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { serviceTime } from './fetch.js';
import { day } from './format.js';
import { Field } from './forms.js';
import { OPERATIONS } from './terms.js';

/** @typedef {{ ok: number, clientError: number, refused: number, serverError: number }} Outcomes */

const HOUR = 3_600;
const DAY = 86_400;

/**
 * A range of time that charts show: `name` and `about` tell it from others, `interval` is the length of a bar in seconds.
 * @typedef {{
 *   name: string, text: string, about: string, interval: number, isOver: boolean, starts: (now: Date) => number[],
 *   query: (now: Date) => { interval: 'hour' | 'day', from: string, to?: string },
 * }} Range
 */

/** @param {number} seconds */
const textOf = (seconds) => new Date(seconds * 1000).toISOString();

/** A range that ends now. @param {string} text @param {'hour' | 'day'} unit @param {number} count intervals, the one that runs included @returns {Range} */
function latest(text, unit, count) {
  const interval = unit === 'hour' ? HOUR : DAY;
  /** @param {Date} now */
  const starts = (now) => {
    const last = Math.floor(now.getTime() / 1000 / interval) * interval;
    return Array.from({ length: count }, (_, at) => last - (count - 1 - at) * interval);
  };
  const query = (/** @type {Date} */ now) => ({ interval: unit, from: textOf(starts(now)[0] ?? 0) });
  const name = text.toLowerCase();
  return { name, text, about: name, interval, isOver: false, starts, query };
}

/** The ranges of the charts, as long as people ask for. */
export const RANGES = {
  day: latest('Day', 'hour', 24),
  week: latest('Week', 'day', 7),
  month: latest('Month', 'day', 30),
  quarter: latest('Quarter', 'day', 90),
};

/** The most days of a custom range. Its rows take several requests. */
const MOST_DAYS = 366;

/** A range of this many days has bars of an hour. */
const HOURLY_DAYS = 2;

/** How long the service keeps usage by the hour. */
const HOURS_KEPT = 90 * DAY;

/**
 * A range of whole UTC days, both included. What has not begun yet is left out.
 * @param {string} from `2026-11-01` @param {string} to @param {Date} now @returns {Range}
 */
function custom(from, to, now) {
  const [first, last] = [Date.parse(from) / 1000, Date.parse(to) / 1000];
  const end = last + DAY;
  const isHourly = end - first <= HOURLY_DAYS * DAY && first > now.getTime() / 1000 - HOURS_KEPT;
  const interval = isHourly ? HOUR : DAY;
  /** @param {Date} date */
  const starts = (date) => {
    const all = Array.from({ length: (end - first) / interval }, (_, at) => first + at * interval);
    return all.filter((start) => start * 1000 <= date.getTime());
  };
  const query = () =>
    /** @type {const} */ ({ interval: isHourly ? 'hour' : 'day', from: textOf(first), to: textOf(end) });
  const about = `${from}-to-${to}`;
  return {
    name: 'custom',
    text: 'Custom',
    about,
    interval,
    isOver: end * 1000 <= now.getTime(),
    starts,
    query,
  };
}

/**
 * The heading of the charts, with the choice of their range.
 * @param {{ range: Range, onRange: (range: Range) => void }} props
 */
export function UsageHead({ range: chosen, onRange }) {
  const [isOpen, setIsOpen] = useState(chosen.name === 'custom');
  const choose = (/** @type {Range} */ range) => {
    setIsOpen(false);
    onRange(range);
  };
  const open = () => {
    if (isOpen) return;
    const now = serviceTime();
    setIsOpen(true);
    onRange(custom(...daysOf(chosen, now), now));
  };
  return html`<div class="stack">
    <div class="row">
      <h2>Usage</h2>
      <div class="choices" role="group" aria-label="Range of the charts">
        ${Object.values(RANGES).map(
          (range) =>
            html`<button type="button" aria-pressed=${String(!isOpen && range.name === chosen.name)} onClick=${() => choose(range)}>
              ${range.text}
            </button>`,
        )}
        <button type="button" aria-pressed=${String(isOpen)} aria-expanded=${String(isOpen)} onClick=${open}>Custom</button>
      </div>
    </div>
    ${isOpen && html`<${CustomRange} range=${chosen} onRange=${onRange} />`}
  </div>`;
}

/** The first and the last day of a range. @param {Range} range @param {Date} now @returns {[from: string, to: string]} */
function daysOf({ starts }, now) {
  const all = starts(now);
  const dayOf = (/** @type {number | undefined} */ start = 0) => day(new Date(start * 1000));
  return [dayOf(all[0]), dayOf(all.at(-1))];
}

/** Asks for the first and the last day. At first these are those of the range shown. @param {{ range: Range, onRange: (range: Range) => void }} props */
function CustomRange({ range, onRange }) {
  const now = serviceTime();
  const today = day(now);
  const [first, last] = daysOf(range, now);
  const [from, setFrom] = useState(first);
  const [to, setTo] = useState(last);
  const least = to === '' ? undefined : day(new Date(Date.parse(to) - (MOST_DAYS - 1) * DAY * 1000));
  const show = (/** @type {Event} */ event) => {
    event.preventDefault();
    onRange(custom(from, to, serviceTime()));
  };
  return html`<form class="range" onSubmit=${show}>
    <${Field} label="From (UTC)" type="date" required min=${least} max=${to} value=${from} onValue=${setFrom} />
    <${Field} label="To (UTC)" type="date" required max=${today} value=${to} onValue=${setTo} />
    <button type="submit">Show</button>
  </form>`;
}

/** What the reference calls an operation. `other` stands for requests to no operation. @param {string} id */
export const nameOperation = (id) => OPERATIONS[id]?.name ?? (id === 'other' ? 'Other paths' : id);

/** @param {Outcomes} row */
export const totalOf = ({ ok, clientError, refused, serverError }) =>
  ok + clientError + refused + serverError;

export const REFUSED_COLOUR = 'series-2';

/** Each with its label and its colour: a failure of the service is red, as everywhere. */
const OUTCOMES = /** @type {const} */ ([
  ['ok', 'Successful', 'series-1'],
  ['clientError', 'Client errors (4xx)', 'series-7'],
  ['refused', 'Refused (429)', REFUSED_COLOUR],
  ['serverError', 'Server errors (5xx)', 'bad'],
]);

/**
 * The requests by outcome, as stacked bars.
 * @param {readonly (Outcomes & { start: string })[]} rows
 * @param {readonly number[]} starts
 * @param {number} interval
 * @returns {import('./plot.js').Plotted}
 */
export function outcomes(rows, starts, interval) {
  const series = OUTCOMES.map(([outcome, label, colour]) => ({
    label,
    colour,
    values: sumsAt(starts, rows, (row) => row[outcome]),
  }));
  return { kind: 'bars', starts, interval, series };
}

/**
 * What `count` gives of the rows that begin at each of `starts`, added up.
 * @template {{ start: string }} Row
 * @param {readonly number[]} starts Unix seconds
 * @param {readonly Row[]} rows
 * @param {(row: Row) => number} count
 */
export function sumsAt(starts, rows, count) {
  const sums = new Map(starts.map((start) => [start, 0]));
  for (const row of rows) {
    const start = Date.parse(row.start) / 1000;
    const sum = sums.get(start);
    if (sum !== undefined) sums.set(start, sum + count(row));
  }
  return [...sums.values()];
}
