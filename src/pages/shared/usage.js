import { html } from 'htm/preact';
import { OPERATIONS } from './terms.js';

/** @typedef {{ ok: number, clientError: number, refused: number, serverError: number }} Outcomes */

const HOUR = 3_600;
const DAY = 86_400;

/** @param {string} text @param {'hour' | 'day'} interval @param {number} count intervals, the one that runs included */
function range(text, interval, count) {
  const length = interval === 'hour' ? HOUR : DAY;
  /** @param {Date} now */
  const starts = (now) => {
    const last = Math.floor(now.getTime() / 1000 / length) * length;
    return Array.from({ length: count }, (_, at) => last - (count - 1 - at) * length);
  };
  /** @param {Date} now */
  const query = (now) => {
    const [first = 0] = starts(now);
    return { interval, from: new Date(first * 1000).toISOString() };
  };
  return { text, interval: length, starts, query };
}

/** The ranges of the charts, as long as people ask for. */
export const RANGES = {
  day: range('Day', 'hour', 24),
  month: range('Month', 'day', 30),
  quarter: range('Quarter', 'day', 90),
};

/** @typedef {keyof typeof RANGES} Range */

/** The heading of the charts, with the choice of their range. @param {{ range: Range, onRange: (range: Range) => void }} props */
export function UsageHead({ range: chosen, onRange }) {
  const ranges = /** @type {[Range, { text: string }][]} */ (Object.entries(RANGES));
  return html`<div class="row">
    <h2>Usage</h2>
    <div class="choices" role="group" aria-label="Range of the charts">
      ${ranges.map(
        ([name, { text }]) =>
          html`<button type="button" aria-pressed=${String(name === chosen)} onClick=${() => onRange(name)}>${text}</button>`,
      )}
    </div>
  </div>`;
}

/** What the reference calls an operation. `other` stands for requests to no operation. @param {string} id */
export const nameOperation = (id) => OPERATIONS[id]?.name ?? (id === 'other' ? 'Other paths' : id);

/** @param {Outcomes} row */
export const totalOf = ({ ok, clientError, refused, serverError }) =>
  ok + clientError + refused + serverError;

/** Each with its label, and the number of its colour: a failure stands out, a success does not. */
const OUTCOMES = /** @type {const} */ ([
  ['ok', 'Successful', 1],
  ['clientError', 'Client errors (4xx)', 7],
  ['refused', 'Refused (429)', 2],
  ['serverError', 'Server errors (5xx)', 4],
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
