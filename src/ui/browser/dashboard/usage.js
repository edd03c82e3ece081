import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../chart.js';
import { serviceTime } from '../fetch.js';
import { usePoll } from '../poll.js';
import { outcomes, RANGES, UsageHead } from '../usage.js';
import { stacks } from './usage-data.js';

/** Seconds. */
const INTERVAL = 300;

/**
 * @typedef {import('../usage.js').Range} Range
 * @typedef {import('../poll.js').Polled<import('./api.js').AccountUsage>} PolledUsage
 */

/**
 * The usage of a day, a month or a quarter. The page always loads that of a month.
 * @param {{ api: import('./api.js').AccountApi, month: PolledUsage, nameOf: (keyId: number) => string }} props
 */
export function Usage({ api, month, nameOf }) {
  const [range, setRange] = useState(/** @type {Range} */ ('month'));
  return html`<${UsageHead} range=${range} onRange=${setRange} />
    ${
      range === 'month'
        ? html`<${Charts} range=${range} usage=${month} nameOf=${nameOf} />`
        : html`<${OtherRange} key=${range} range=${range} api=${api} nameOf=${nameOf} />`
    }`;
}

/** @param {{ range: Range, api: import('./api.js').AccountApi, nameOf: (keyId: number) => string }} props */
function OtherRange({ range, api, nameOf }) {
  const usage = usePoll((signal) => api.usage(RANGES[range].query(serviceTime()), signal), INTERVAL);
  return html`<${Charts} range=${range} usage=${usage} nameOf=${nameOf} />`;
}

/** @param {{ range: Range, usage: PolledUsage, nameOf: (keyId: number) => string }} props */
function Charts({ range, usage: { data, error, failingSince }, nameOf }) {
  const { interval, starts, text } = RANGES[range];
  const names = data && [...new Set(data.keys.map(({ keyId }) => nameOf(keyId)))].join('\n');
  const plotted = useMemo(() => {
    if (data === undefined) return undefined;
    const its = starts(serviceTime());
    return {
      operation: stacks(data.operations, its, interval, ({ operation }) => operation),
      key: stacks(data.keys, its, interval, ({ keyId }) => nameOf(keyId)),
      outcome: outcomes(data.operations, its, interval),
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
