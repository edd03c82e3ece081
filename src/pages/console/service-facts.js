import { html } from 'htm/preact';
import { number } from '../shared/format.js';
import { Badge } from '../shared/notice.js';
import { Time } from '../shared/time.js';
import { Card } from './page.js';

/** The figures of the service now. @param {any} props */
export function ServiceFacts({ requestsPerSecond, latency, bans, health, startedAt }) {
  const facts = [
    ['Requests a second', rounded(requestsPerSecond)],
    ['p50, last minute', milliseconds(latency.p50)],
    ['p99, last minute', milliseconds(latency.p99)],
    ['Bans in force', html`<a href="/bans">${number(bans)}</a>`],
    ['Database', html`<${Health} ...${health.database} />`],
    ...(health.redis ? [['Redis', html`<${Health} ...${health.redis} />`]] : []),
    ['Started', html`<${Time} at=${startedAt} isRelative />`],
  ];
  return html`<${Card} title="Now">
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  <//>`;
}

/** @param {{ isUp: boolean, milliseconds?: number }} props */
function Health({ isUp, milliseconds: took }) {
  if (!isUp) return html`<${Badge} kind="bad">does not answer<//>`;
  return html`<${Badge} kind="good">up<//>${took !== undefined && html` <span class="muted">${milliseconds(took)}</span>`}`;
}

/** At least two digits that count: `0.42`, `7.3`, `1,234`. @param {number} value */
const rounded = (value) => (value >= 100 ? number(Math.round(value)) : String(Number(value.toPrecision(2))));

/** @param {number | undefined} value */
const milliseconds = (value) => (value === undefined ? '–' : `${rounded(value)} ms`);
