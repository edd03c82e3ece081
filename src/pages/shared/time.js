import { html } from 'htm/preact';
import { serviceTime } from './fetch.js';
import { day, local, relative, utc, utcSecond } from './format.js';

/**
 * An instant in UTC. Its title shows it in the time zone of the browser.
 * @param {{ at: string, isRelative?: boolean, isExact?: boolean }} props `isRelative`: how far away it is now, with UTC in
 *   the title too; `isExact`: with seconds
 */
export function Time({ at, isRelative = false, isExact = false }) {
  const date = new Date(at);
  const exact = isExact ? utcSecond(date) : utc(date);
  const title = isRelative ? `${utc(date)}, here ${local(date)}` : local(date);
  return html`<time class="fixed" datetime=${at} title=${title}>${isRelative ? relative(date, serviceTime()) : exact}</time>`;
}

/** A day in UTC. Its title has the whole instant. @param {{ at: string }} props */
export function Day({ at }) {
  const date = new Date(at);
  return html`<time class="fixed" datetime=${at} title="${utc(date)}, here ${local(date)}">${day(date)}</time>`;
}
