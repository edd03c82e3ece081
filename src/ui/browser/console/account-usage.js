import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Chart } from '../chart.js';
import { serviceTime } from '../fetch.js';
import { usePoll } from '../poll.js';
import { Ranking } from '../ranking.js';
import { outcomes, RANGES, totalOf, UsageHead } from '../usage.js';
import { list } from './api.js';

/** Seconds. The service writes usage every 5 seconds. */
const REFRESH = 30;

/** The requests of an account over time, by operation and by key. @param {{ accountId: string }} props */
export function AccountUsage({ accountId }) {
  const [range, setRange] = useState(/** @type {import('../usage.js').Range} */ ('day'));
  const { data, ...state } = usePoll(load, REFRESH, range);
  const file = `account-${accountId}-${range}`;

  /** @param {AbortSignal} signal */
  async function load(signal) {
    const { starts, query, interval } = RANGES[range];
    const now = serviceTime();
    const ask = async (/** @type {string} */ by) =>
      (await list(`/usage?accountId=${accountId}&${query(now)}&by=${by}`, Infinity, signal)).rows;
    const [rows, operations, keys] = await Promise.all([ask('interval'), ask('operation'), ask('key')]);
    return {
      plotted: outcomes(rows, starts(now), interval),
      operations: operations.map((row) => ({ label: row.operation, value: totalOf(row) })),
      keys: keys.map((row) => ({ label: keyName(row), value: totalOf(row) })),
    };
  }
  return html`<div class="stack">
    <${UsageHead} range=${range} onRange=${setRange} />
    <${Chart} title="Requests by outcome" file="${file}-by-outcome" plotted=${data?.plotted} ...${state} />
    <div class="columns">
      <${Ranking} title="Requests by operation" file="${file}-by-operation" name="Operation" unit="Requests"
        values=${data?.operations} ...${state} />
      <${Ranking} title="Requests by key" file="${file}-by-key" name="Key" unit="Requests"
        values=${data?.keys} ...${state} />
    </div>
  </div>`;
}

/** @param {{ keyId: number, label?: string }} row */
const keyName = ({ keyId, label }) => (label === undefined ? `key ${keyId}` : `${label} (key ${keyId})`);
