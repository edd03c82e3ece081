import { compact } from '../format.js';

/** @typedef {import('./api.js').UsageRow} UsageRow */

const HOUR = 3_600;
const DAY = 86_400;
/** Most series of a chart, which has as many colours. The rest is added up. */
const MOST_SERIES = 8;

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
    return `interval=${interval}&from=${new Date(first * 1000).toISOString()}`;
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

/** @param {UsageRow} row */
export const totalOf = ({ ok, clientError, refused, serverError }) =>
  ok + clientError + refused + serverError;

/**
 * The requests by what `nameOf` gives, as stacked bars: the largest first, and the rest as one.
 * @param {readonly UsageRow[]} rows
 * @param {readonly number[]} starts Unix seconds
 * @param {number} interval seconds
 * @param {(row: UsageRow) => string} nameOf
 * @returns {import('../plot.js').Plotted}
 */
export function stacks(rows, starts, interval, nameOf) {
  const placeOf = new Map(starts.map((start, at) => [start, at]));
  /** @type {Map<string, { label: string, values: number[], sum: number }>} */
  const byName = new Map();
  for (const row of rows) {
    const place = placeOf.get(Date.parse(row.start) / 1000);
    if (place === undefined) continue;
    const label = nameOf(row);
    const its = byName.get(label) ?? { label, values: starts.map(() => 0), sum: 0 };
    byName.set(label, its);
    its.values[place] = (its.values[place] ?? 0) + totalOf(row);
    its.sum += totalOf(row);
  }
  const sorted = [...byName.values()].toSorted((one, other) => other.sum - one.sum);
  if (sorted.length <= MOST_SERIES) return { kind: 'bars', starts, interval, series: sorted };
  const rest = sorted.slice(MOST_SERIES - 1);
  const values = starts.map((_, at) => rest.reduce((sum, its) => sum + (its.values[at] ?? 0), 0));
  const series = [...sorted.slice(0, MOST_SERIES - 1), { label: `${compact(rest.length)} others`, values }];
  return { kind: 'bars', starts, interval, series };
}

const OUTCOMES = /** @type {const} */ ([
  ['ok', 'Successful'],
  ['clientError', 'Client errors (4xx)'],
  ['refused', 'Refused (429)'],
  ['serverError', 'Server errors (5xx)'],
]);

/**
 * The requests by outcome, as stacked bars.
 * @param {readonly UsageRow[]} rows
 * @param {readonly number[]} starts
 * @param {number} interval
 * @returns {import('../plot.js').Plotted}
 */
export function outcomes(rows, starts, interval) {
  const placeOf = new Map(starts.map((start, at) => [start, at]));
  const series = OUTCOMES.map(([outcome, label]) => {
    const values = starts.map(() => 0);
    for (const row of rows) {
      const place = placeOf.get(Date.parse(row.start) / 1000);
      if (place !== undefined) values[place] = (values[place] ?? 0) + row[outcome];
    }
    return { label, values };
  });
  return { kind: 'bars', starts, interval, series };
}
