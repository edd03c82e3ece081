import { html } from 'htm/preact';
import { day, local, relative, utc, utcSecond } from './format.js';

/**
 * An instant in UTC. Its title shows it in the time zone of the browser.
 * @param {{ at: string, now?: Date, isExact?: boolean }} props with `now` it shows how far away it is instead, and UTC in
 *   the title too; `isExact`: with seconds
 */
export function Time({ at, now, isExact = false }) {
  const date = new Date(at);
  const exact = isExact ? utcSecond(date) : utc(date);
  const title = now === undefined ? local(date) : `${utc(date)}, here ${local(date)}`;
  return html`<time class="fixed" datetime=${at} title=${title}>${now === undefined ? exact : relative(date, now)}</time>`;
}

/** A day in UTC. Its title has the whole instant. @param {{ at: string }} props */
export function Day({ at }) {
  const date = new Date(at);
  return html`<time class="fixed" datetime=${at} title="${utc(date)}, here ${local(date)}">${day(date)}</time>`;
}
