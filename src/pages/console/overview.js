import { html } from 'htm/preact';
import { Chart } from '../shared/chart.js';
import { number } from '../shared/format.js';
import { Meter } from '../shared/meter.js';
import { usePoll } from '../shared/poll.js';
import { outcomes } from '../shared/usage.js';
import { get } from './api.js';
import { AccountLink } from './links.js';
import { Card, Loaded, Page } from './page.js';
import { ServiceFacts } from './service-facts.js';

/** Seconds: between two polls, and the lengths of the bars. */
const LIVE = 5;
const MINUTE = 60;
const HOUR = 3_600;

export function Overview() {
  const poll = usePoll((signal) => get('/overview', signal), LIVE);
  const { data, ...state } = poll;
  return html`<${Page} title="Overview">
    <${Loaded} poll=${poll} label="The figures">${() => html`<${ServiceFacts} ...${data} />`}<//>
    <div class="columns">
      <${Chart} title="Requests, last hour" file="requests-last-hour" ...${state}
        plotted=${data && outcomes(data.minutes, startsOf(data.minutes), MINUTE)} />
      <${Chart} title="Latency, last hour" file="latency-last-hour" ...${state}
        plotted=${data && latencyOf(data.minutes)} />
      <${Chart} title="Requests, last day, all instances" file="requests-last-day" ...${state}
        plotted=${data && outcomes(data.hours, startsOf(data.hours), HOUR)} />
      <${Card} title="Accounts nearest to their limits">
        <${Loaded} poll=${poll} label="The list">${() => html`<${Nearest} rows=${data.nearest} />`}<//>
      <//>
    </div>
  <//>`;
}

/** The starts of rows, in Unix seconds. @param {readonly { start: string }[]} rows */
const startsOf = (rows) => rows.map(({ start }) => Date.parse(start) / 1000);

/** Milliseconds by minute. @param {any[]} minutes @returns {import('../shared/plot.js').Plotted} */
function latencyOf(minutes) {
  return {
    kind: 'lines',
    interval: MINUTE,
    starts: startsOf(minutes),
    series: ['p50', 'p99'].map((name) => ({
      label: `${name} (ms)`,
      values: minutes.map((minute) => minute[name]),
    })),
  };
}

/** The accounts with the smallest share of a limit left. @param {{ rows: any[] }} props */
function Nearest({ rows }) {
  if (rows.length === 0) return html`<p class="empty">No account has used any of its limits.</p>`;
  return html`<ul class="ranking">${rows.map((row) => html`<${NearestAccount} row=${row} />`)}</ul>`;
}

/** @param {{ row: any }} props */
function NearestAccount({ row: { accountId, account, window, limit, remaining } }) {
  return html`<li>
    <${AccountLink} id=${accountId} name=${account} />
    <span>${number(remaining)} of ${number(limit)} left this ${window}</span>
    <${Meter} part=${(limit - remaining) / limit} isQuota />
  </li>`;
}
