import { html } from 'htm/preact';
import { Notice } from '../notice.js';
import { Time } from '../time.js';

/**
 * A notice for each key that is banned now.
 * @param {{ bans: import('./api.js').Account['bans'], nameOf: (keyId: number) => string, now: Date }} props
 */
export function Bans({ bans, nameOf, now }) {
  const inForce = bans.filter(({ until }) => Date.parse(until) > now.getTime());
  return inForce.map(
    ({ keyId, until, count }) =>
      html`<${Notice} key=${keyId} kind="warn" title="${nameOf(keyId)} is banned">
        <p>
          It kept sending requests after a 429. The ban ends at <${Time} at=${until} />.
          ${count > 1 && ` It is ban number ${count} in a row. Each ban is longer than the one before.`}
          ${' '}<a href="reference#tag/backing-off">How to avoid bans</a>
        </p>
      <//>`,
  );
}
