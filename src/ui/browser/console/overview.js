import { html } from 'htm/preact';
import { Chart } from '../chart.js';
import { usePoll } from '../poll.js';
import { outcomes } from '../usage.js';
import { get } from './api.js';
import { Nearest } from './nearest.js';
import { Page } from './page.js';
import { ServiceFacts } from './service-facts.js';

/** Seconds: between two polls, and the lengths of the bars. */
const LIVE = 5;
const MINUTE = 60;
const HOUR = 3_600;

export function Overview() {
  const { data, error, failingSince: since } = usePoll((signal) => get('/overview', signal), LIVE);
  const state = { error, since };
  return html`<${Page} title="Overview">
    <${ServiceFacts} data=${data} ...${state} />
    <div class="columns">
      <${Chart} title="Requests, last hour" file="requests-last-hour" ...${state}
        plotted=${data && outcomes(data.minutes, startsOf(data.minutes), MINUTE)} />
      <${Chart} title="Latency, last hour" file="latency-last-hour" ...${state}
        plotted=${data && latencyOf(data.minutes)} />
      <${Chart} title="Requests, last day, all instances" file="requests-last-day" ...${state}
        plotted=${data && outcomes(data.hours, startsOf(data.hours), HOUR)} />
      <${Nearest} rows=${data?.nearest} ...${state} />
    </div>
  <//>`;
}

/** The starts of rows, in Unix seconds. @param {readonly { start: string }[]} rows */
const startsOf = (rows) => rows.map(({ start }) => Date.parse(start) / 1000);

/** Milliseconds by minute. @param {any[]} minutes @returns {import('../plot.js').Plotted} */
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
