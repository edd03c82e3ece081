import { html } from 'htm/preact';
import { Notice } from '../notice.js';
import { Time } from '../time.js';

/**
 * A notice for each banned key, and nothing without bans.
 * @param {{ bans: import('./api.js').Account['bans'], nameOf: (keyId: number) => string }} props
 */
export function Bans({ bans, nameOf }) {
  return bans.map(
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
