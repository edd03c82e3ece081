import { html } from 'htm/preact';
import { local, utc } from '../format.js';
import { Fault } from '../notice.js';

/** What an error means for the holder of a key, by its code. */
const TITLES = new Map([
  ['unauthorized', 'This key does not work'],
  ['insufficient_scope', 'This key may not do this'],
  ['key_banned', 'This key is banned for a while'],
  ['rate_limit_exceeded', 'The requests of this minute are used up'],
  ['daily_limit_exceeded', 'The requests of this day are used up'],
]);

/**
 * An error of a request with a key, with the time at which it ends by itself.
 * @param {{ error: import('../fetch.js').ApiError, since?: Date | undefined }} props
 */
export function KeyFault({ error, since }) {
  const { code, status, until } = error;
  return html`<${Fault} error=${error} since=${since} title=${TITLES.get(code)}>
    ${status === 429 && html`<p title=${local(until)}>It ends at <strong>${utc(until)}</strong>.</p>`}
  <//>`;
}
