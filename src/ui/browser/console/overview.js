import { html } from 'htm/preact';
import { Chart } from '../chart.js';
import { usePoll } from '../poll.js';
import { get } from './api.js';
import { LENGTH, outcomeBars, startsOf } from './outcomes.js';
import { Nearest } from './nearest.js';
import { Page } from './page.js';
import { ServiceFacts } from './service-facts.js';

/** Seconds between two looks at the service. */
const LIVE = 5;

export function Overview() {
  const { data, error, failingSince: since } = usePoll((signal) => get('/overview', signal), LIVE);
  const state = { error, since };
  return html`<${Page} title="Overview">
    <${ServiceFacts} data=${data} ...${state} />
    <div class="columns">
      <${Chart} title="Requests, last hour" file="requests-last-hour" ...${state}
        plotted=${data && outcomeBars(startsOf(data.minutes), LENGTH.minute, data.minutes)} />
      <${Chart} title="Latency, last hour" file="latency-last-hour" ...${state}
        plotted=${data && latencyOf(data.minutes)} />
      <${Chart} title="Requests, last day, all instances" file="requests-last-day" ...${state}
        plotted=${data && outcomeBars(startsOf(data.hours), LENGTH.hour, data.hours)} />
      <${Nearest} rows=${data?.nearest} ...${state} />
    </div>
  <//>`;
}

/** Milliseconds by minute. @param {any[]} minutes @returns {import('../plot.js').Plotted} */
function latencyOf(minutes) {
  return {
    kind: 'lines',
    interval: LENGTH.minute,
    starts: startsOf(minutes),
    series: ['p50', 'p99'].map((name) => ({
      label: `${name} (ms)`,
      values: minutes.map((minute) => minute[name]),
    })),
  };
}
