import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Chart } from '../chart.js';
import { Choices } from '../field.js';
import { usePoll } from '../poll.js';
import { Ranking } from '../ranking.js';
import { get, serviceTime, withQuery } from './api.js';
import { LENGTH, outcomeBars, requests, startsUntil } from './outcomes.js';

/** Seconds. The service writes usage every 10 seconds. */
const REFRESH = 30;

const RANGES = /** @type {const} */ ({
  day: { text: '24 hours', interval: 'hour', count: 24 },
  month: { text: '30 days', interval: 'day', count: 30 },
  quarter: { text: '90 days', interval: 'day', count: 90 },
});

/** The requests of an account over time, by operation and by key. @param {{ accountId: string }} props */
export function AccountUsage({ accountId }) {
  const [range, setRange] = useState(/** @type {keyof typeof RANGES} */ ('day'));
  const { text, interval, count } = RANGES[range];
  const length = LENGTH[interval];
  const { data, error, failingSince: since } = usePoll(load, REFRESH, range);
  const file = `usage-of-account-${accountId}`;
  const state = { error, since };

  /** @param {AbortSignal} signal */
  async function load(signal) {
    const starts = startsUntil(serviceTime().getTime(), length, count);
    const from = new Date((starts[0] ?? 0) * 1000).toISOString();
    const ask = (/** @type {string} */ by) =>
      get(withQuery('/usage', { accountId, from, interval, by }), signal);
    const [rows, operations, keys] = await Promise.all([ask('interval'), ask('operation'), ask('key')]);
    return {
      plotted: outcomeBars(starts, length, rows),
      operations: operations.map((/** @type {any} */ row) => ({
        label: row.operation,
        value: requests(row),
      })),
      keys: keys.map((/** @type {any} */ row) => ({ label: keyName(row), value: requests(row) })),
    };
  }
  const choices = Object.entries(RANGES).map(([value, its]) => ({ value, text: its.text }));
  return html`<div class="stack">
    <div class="row">
      <h2>Usage</h2>
      <${Choices} label="Range of the usage" value=${range} onValue=${setRange} choices=${choices} />
    </div>
    <${Chart} title="Requests, last ${text}" file="${file}-${range}" plotted=${data?.plotted} ...${state} />
    <div class="columns">
      <${Ranking} title="By operation, last ${text}" file="${file}-by-operation" name="Operation" unit="Requests"
        values=${data?.operations} ...${state} />
      <${Ranking} title="By key, last ${text}" file="${file}-by-key" name="Key" unit="Requests"
        values=${data?.keys} ...${state} />
    </div>
  </div>`;
}

/** @param {{ keyId: number, label?: string }} row */
const keyName = ({ keyId, label }) => (label === undefined ? `key ${keyId}` : `${label} (key ${keyId})`);
