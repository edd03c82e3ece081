/** @typedef {{ ok: number, clientError: number, refused: number, serverError: number }} Outcomes */

/** The outcomes of requests, in the order of the charts. */
const OUTCOMES = /** @type {const} */ ([
  ['ok', 'Succeeded'],
  ['clientError', 'Client errors'],
  ['refused', 'Refused'],
  ['serverError', 'Failed'],
]);

/** Seconds. */
export const LENGTH = { minute: 60, hour: 3_600, day: 86_400 };

/**
 * The starts of the last `count` intervals up to the one of `last`, in Unix seconds.
 * @param {number} last Unix milliseconds @param {number} length seconds @param {number} count
 */
export function startsUntil(last, length, count) {
  const end = Math.floor(last / 1000 / length) * length;
  return Array.from({ length: count }, (_, at) => end - (count - 1 - at) * length);
}

/** The starts of rows, in Unix seconds. @param {readonly { start: string }[]} rows */
export const startsOf = (rows) => rows.map(({ start }) => Date.parse(start) / 1000);

/**
 * Requests over time as bars, by outcome. An interval without a row had no request.
 * @param {readonly number[]} starts @param {number} interval seconds
 * @param {readonly (Outcomes & { start: string })[]} rows
 * @returns {import('../plot.js').Plotted}
 */
export function outcomeBars(starts, interval, rows) {
  const at = new Map(rows.map((row) => [Date.parse(row.start) / 1000, row]));
  return {
    kind: 'bars',
    interval,
    starts,
    series: OUTCOMES.map(([name, label]) => ({
      label,
      values: starts.map((start) => at.get(start)?.[name] ?? 0),
    })),
  };
}

/** All requests of a row. @param {Outcomes} row */
export const requests = ({ ok, clientError, refused, serverError }) =>
  ok + clientError + refused + serverError;
