import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../shared/chart.js';
import { serviceTime } from '../shared/fetch.js';
import { compact, number } from '../shared/format.js';
import { Notice } from '../shared/notice.js';
import { OPERATIONS } from '../shared/terms.js';
import { usePoll } from '../shared/poll.js';
import { nameOperation, outcomes, RANGES, sumsAt, totalOf, UsageHead } from '../shared/usage.js';

/** Seconds. */
const INTERVAL = 300;

/**
 * @typedef {import('../shared/usage.js').Range} Range
 * @typedef {import('../shared/poll.js').Polled<import('./api.js').AccountUsage>} PolledUsage
 */

/**
 * The usage of a day, a month or a quarter. The page always loads that of a month.
 * @param {{ account: import('./api.js').OpenAccount, month: PolledUsage, nameOf: import('./api.js').NameOf }} props
 */
export function Usage({ account, month, nameOf }) {
  const [range, setRange] = useState(/** @type {Range} */ ('month'));
  return html`<${UsageHead} range=${range} onRange=${setRange} />
    ${
      range === 'month'
        ? html`<${Charts} range=${range} usage=${month} nameOf=${nameOf} />`
        : html`<${OtherRange} key=${range} range=${range} account=${account} nameOf=${nameOf} />`
    }`;
}

/** @param {{ range: Range, account: import('./api.js').OpenAccount, nameOf: import('./api.js').NameOf }} props */
function OtherRange({ range, account, nameOf }) {
  const usage = usePoll((signal) => account.readUsage(RANGES[range].query(serviceTime()), signal), INTERVAL);
  return html`<${Charts} range=${range} usage=${usage} nameOf=${nameOf} />`;
}

/** @param {{ range: Range, usage: PolledUsage, nameOf: import('./api.js').NameOf }} props */
function Charts({ range, usage: { data, error, failingSince }, nameOf }) {
  const { interval, starts, text } = RANGES[range];
  const names = data && [...new Set(data.keys.map(({ keyId }) => nameOf(keyId)))].join('\n');
  const plotted = useMemo(() => {
    if (data === undefined) return undefined;
    const all = starts(serviceTime());
    return {
      operation: stacks(data.operations, all, interval, ({ operation }) => nameOperation(operation)),
      key: stacks(data.keys, all, interval, ({ keyId }) => nameOf(keyId)),
      outcome: outcomes(data.operations, all, interval),
    };
  }, [data, range, names]);
  const rest = { error, failingSince };
  const file = `usage-${text.toLowerCase()}`;
  return html`
    <${Chart} title="Requests by operation" file="${file}-by-operation" plotted=${plotted?.operation} ...${rest} />
    <div class="columns">
      <${Chart} title="Requests by key" file="${file}-by-key" plotted=${plotted?.key} ...${rest} />
      <${Chart} title="Requests by outcome" file="${file}-by-outcome" plotted=${plotted?.outcome} ...${rest} />
    </div>`;
}

/** The largest number of series in a chart: one for each colour. The last one is the sum of the rest. */
const MOST_SERIES = 8;

/**
 * The requests by what `nameOf` gives, as stacked bars: the largest first, and the rest as one.
 * @template {import('../../../client/src/index.ts').Usage} Row
 * @param {readonly Row[]} rows
 * @param {readonly number[]} starts Unix seconds
 * @param {number} interval seconds
 * @param {(row: Row) => string} nameOf
 * @returns {import('../shared/plot.js').Plotted}
 */
function stacks(rows, starts, interval, nameOf) {
  const sorted = [...Map.groupBy(rows, nameOf)]
    .map(([label, own]) => {
      const values = sumsAt(starts, own, totalOf);
      return { label, own, values, sum: values.reduce((sum, value) => sum + value, 0) };
    })
    .filter(({ sum }) => sum > 0)
    .toSorted((one, other) => other.sum - one.sum);
  if (sorted.length <= MOST_SERIES) return { kind: 'bars', starts, interval, series: sorted };
  const rest = sorted.splice(MOST_SERIES - 1);
  const values = sumsAt(
    starts,
    rest.flatMap(({ own }) => own),
    totalOf,
  );
  const series = [...sorted, { label: `${compact(rest.length)} others`, values }];
  return { kind: 'bars', starts, interval, series };
}

/**
 * A notice for each deprecated operation that the account called in the last 30 days.
 * @param {{ rows: readonly import('./api.js').OperationUsage[] | undefined }} props
 */
export function DeprecationNotices({ rows = [] }) {
  return Object.entries(OPERATIONS).map(([id, { name, removal, successor }]) => {
    const calls = removal === undefined ? [] : rows.filter(({ operation }) => operation === id);
    const last = calls.at(-1);
    if (last === undefined) return null;
    const requests = calls.reduce((sum, row) => sum + totalOf(row), 0);
    return html`<${Notice} key=${id} kind="warn" title="“${name}” is deprecated and will be removed on ${removal}">
      <p>
        This account called <a href="reference#${id}">${name}</a> <strong>${number(requests)}</strong> ${requests === 1 ? 'time' : 'times'} in the last 30 days, the
        last time on ${last.start.slice(0, 10)} (UTC). Use <code>${successor}</code> instead.
        ${' '}<a href="reference#deprecation-and-versioning">About deprecations</a>
      </p>
    <//>`;
  });
}
