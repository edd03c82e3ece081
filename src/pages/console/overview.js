import { html } from 'htm/preact';
import { Chart } from '../shared/chart.js';
import { number, Time } from '../shared/format.js';
import { Meter } from '../shared/meter.js';
import { Badge } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { outcomes } from '../shared/usage.js';
import { get } from './api.js';
import { DeprecationsCard } from './deprecations.js';
import { AccountLink } from './list.js';
import { Card, Loaded, Page } from './page.js';
import { Webhooks } from './webhooks.js';

/** @typedef {import('./schema.d.ts').Overview} Overview */

/** Seconds: between two polls, and the lengths of the bars. */
const LIVE = 5;
const MINUTE = 60;
const HOUR = 3_600;

export function Overview() {
  const poll = usePoll(/** @returns {Promise<Overview>} */ (signal) => get('/overview', signal), LIVE);
  const { data, ...state } = poll;
  const minutes = data && sinceStart(data);
  const note =
    minutes && minutes.length < data.minutes.length
      ? 'Since this instance started. The last day has the requests before.'
      : 'Of this instance.';
  return html`<${Page} title="Overview">
    <${Loaded} poll=${poll} label="The figures">${() => html`
      <${Animals} ...${data?.animals} />
      <${ServiceFacts} ...${data} />`}<//>
    <div class="columns">
      <${Chart} title="Requests, last hour" file="requests-last-hour" ...${state} note=${note}
        plotted=${minutes && outcomes(minutes, startsOf(minutes), MINUTE)} />
      <${Chart} title="Latency, last hour" file="latency-last-hour" ...${state} note=${note}
        plotted=${minutes && latencyOf(minutes)} />
      <${Chart} title="Requests, last day, all instances" file="requests-last-day" ...${state}
        plotted=${data && outcomes(data.hours, startsOf(data.hours), HOUR)} />
      <${Card} title="Accounts nearest to their limits">
        <${Loaded} poll=${poll} label="The list">${(/** @type {Overview} */ { nearest }) => html`<${Nearest} rows=${nearest} />`}<//>
      <//>
    </div>
    <${Webhooks} title="Webhooks that fail" filters=${{ state: 'failing' }} empty="No webhook fails." />
    <${DeprecationsCard} />
  <//>`;
}

/** The minutes of which the instance knows: it forgets them when it restarts. @param {Overview} overview */
function sinceStart({ minutes, startedAt }) {
  const start = Date.parse(startedAt) - MINUTE * 1000;
  return minutes.filter((minute) => Date.parse(minute.start) > start);
}

/** The starts of rows, in Unix seconds. @param {readonly { start: string }[]} rows */
const startsOf = (rows) => rows.map(({ start }) => Date.parse(start) / 1000);

const LATENCIES = /** @type {const} */ ([
  { name: 'p50', label: 'p50: half are faster' },
  { name: 'p99', label: 'p99: 99% are faster' },
]);

/** Milliseconds by minute. @param {Overview['minutes']} minutes @returns {import('../shared/plot.js').Plotted} */
function latencyOf(minutes) {
  return {
    kind: 'lines',
    interval: MINUTE,
    starts: startsOf(minutes),
    unit: 'ms',
    series: LATENCIES.map(({ name, label }) => ({
      label,
      values: minutes.map((minute) => minute[name]),
    })),
  };
}

/** The accounts with the smallest share of a limit left. @param {{ rows: Overview['nearest'] }} props */
function Nearest({ rows }) {
  if (rows.length === 0) return html`<p class="empty">No account has used any of its limits.</p>`;
  return html`<ul class="ranking nearest">${rows.map((row) => html`<${NearestAccount} row=${row} />`)}</ul>`;
}

/** @param {{ row: Overview['nearest'][number] }} props */
function NearestAccount({ row: { accountId, account, window, limit, remaining } }) {
  return html`<li>
    <${AccountLink} id=${accountId} name=${account} />
    <span>${number(limit - remaining)} of ${number(limit)} used ${window === 'day' ? 'today' : 'this minute'}</span>
    <${Meter} part=${(limit - remaining) / limit} isQuota />
  </li>`;
}

/** @param {Overview['animals']} props */
function Animals({ available, held, ending, adopted }) {
  const facts = [
    ['Available', '/animals?status=available', available],
    ['Held', '/animals?status=pending', held],
    ['Orders that end within a day', '/orders?status=pending', ending],
    ['Adopted in the last seven days', '/orders?status=complete', adopted],
  ];
  return html`<${Card} title="Animals">
    <dl class="facts">${facts.map(
      ([name, href, count]) =>
        html`<div><dt>${name}</dt><dd><a href=${href}>${number(Number(count))}</a></dd></div>`,
    )}</dl>
  <//>`;
}

/** The figures of the service now. @param {import('./schema.d.ts').Overview} props */
function ServiceFacts({ requestsPerSecond, latency, bans, health, startedAt }) {
  const facts = [
    ['Requests a second', rounded(requestsPerSecond)],
    ['Latency (p50)', milliseconds(latency.p50)],
    ['Latency (p99)', milliseconds(latency.p99)],
    ['Bans in force', html`<a href="/bans">${number(bans)}</a>`],
    ['Database', html`<${Health} ...${health.database} />`],
    ...(health.redis ? [['Redis', html`<${Health} ...${health.redis} />`]] : []),
    ['Started', html`<${Time} at=${startedAt} isRelative />`],
  ];
  return html`<${Card} title="Now" actions=${html`<span class="muted">Latency is that of the last minute.</span>`}>
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  <//>`;
}

/** @param {{ isUp: boolean, isWritable?: boolean, milliseconds?: number }} props */
function Health({ isUp, isWritable = true, milliseconds: took }) {
  if (!isUp) return html`<${Badge} kind="bad">does not answer<//>`;
  if (!isWritable) return html`<${Badge} kind="bad">cannot be written<//>`;
  return html`<${Badge} kind="good">up<//>${took !== undefined && html` <span class="muted">${milliseconds(took)}</span>`}`;
}

/** At least two digits that count: `0.42`, `7.3`, `1,234`. @param {number} value */
const rounded = (value) => (value >= 100 ? number(Math.round(value)) : String(Number(value.toPrecision(2))));

/** @param {number | undefined} value */
const milliseconds = (value) => (value === undefined ? 'no requests' : `${rounded(value)} ms`);
