import { html } from 'htm/preact';
import { local, relative, utc } from './format.js';

/**
 * An instant in UTC. Its title has the time of the browser.
 * @param {{ at: string, now?: Date }} props with `now` it shows how far away it is instead, and UTC in the title too
 */
export function Time({ at, now }) {
  const date = new Date(at);
  const title = now === undefined ? local(date) : `${utc(date)}, here ${local(date)}`;
  return html`<time class="fixed" datetime=${at} title=${title}>${now === undefined ? utc(date) : relative(date, now)}</time>`;
}
