import { compact } from '../format.js';
import { totalOf } from '../usage.js';

/** The largest number of series in a chart: one for each colour. The last one is the sum of the rest. */
const MOST_SERIES = 8;

/**
 * The requests by what `nameOf` gives, as stacked bars: the largest first, and the rest as one.
 * @template {import('./api.js').UsageRow} Row
 * @param {readonly Row[]} rows
 * @param {readonly number[]} starts Unix seconds
 * @param {number} interval seconds
 * @param {(row: Row) => string} nameOf
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
