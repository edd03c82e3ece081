import { html } from 'htm/preact';
import { local, utc } from '../format.js';
import { Fault } from '../notice.js';

/** The titles of errors for a key holder, by their codes. */
const TITLES = new Map([
  ['unauthorized', 'This key does not work'],
  ['insufficient_scope', 'This key is not allowed to do this'],
  ['key_banned', 'This key is banned for a while'],
  ['rate_limit_exceeded', 'The limit of this minute is used up'],
  ['daily_limit_exceeded', 'The limit of this day is used up'],
]);

/**
 * An error of a request with a key. A limit or a ban has the time at which it ends.
 * @param {{ error: import('../fetch.js').ApiError, failingSince?: Date | undefined }} props
 */
export function KeyFault({ error, failingSince }) {
  const { code, status, until } = error;
  return html`<${Fault} error=${error} failingSince=${failingSince} title=${TITLES.get(code)}>
    ${status === 429 && html`<p title=${local(until)}>It ends at <strong>${utc(until)}</strong>.</p>`}
  <//>`;
}
