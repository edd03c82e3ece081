import { html } from 'htm/preact';
import { local, utc } from '../format.js';
import { Fault } from '../notice.js';

/** The titles of errors for a key holder, by their codes. */
const TITLES = new Map([
  ['unauthorized', 'This key does not work'],
  ['insufficient_scope', 'This key is not allowed to do this'],
  ['rate_limit_exceeded', 'This page must wait a moment'],
  ['daily_limit_exceeded', 'This page must wait until the day ends'],
]);

/**
 * An error of a request with a key. A limit has the time at which it ends. It is never one of the plan, because no request of
 * the dashboard counts against the plan.
 * @param {{ error: import('../fetch.js').ApiError, failingSince?: Date | undefined }} props
 */
export function KeyFault({ error, failingSince }) {
  const { code, status, until } = error;
  return html`<${Fault} error=${error} failingSince=${failingSince} title=${TITLES.get(code)}>
    ${
      status === 429 &&
      html`<p title=${local(until)}>The wait ends at <strong>${utc(until)}</strong>. It does not concern the limits of your plan.</p>`
    }
  <//>`;
}
