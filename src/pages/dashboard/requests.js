import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Time } from '../shared/format.js';
import { Badge, Skeleton } from '../shared/notice.js';
import { Name, Table } from '../shared/table.js';
import { KeyErrorNotice } from './layout.js';

/** @typedef {import('../../../client/src/index.ts').FailedRequest} FailedRequest */

/** Rows that are shown at first. */
const FIRST = 5;

/**
 * Why requests of the account failed.
 * @param {{ failed: import('../shared/poll.js').Polled<readonly FailedRequest[]>, nameOf: import('./api.js').NameOf }} props
 */
export function FailedRequests({ failed: { data, error, failingSince }, nameOf }) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? data : data?.slice(0, FIRST);
  return html`<section class="card" aria-label="Failed requests">
    <div>
      <h2>Failed requests</h2>
      <p class="muted">The last 100 of the last 24 hours.</p>
    </div>
    ${error && !data && html`<${KeyErrorNotice} error=${error} failingSince=${failingSince} />`}
    ${
      shown
        ? html`<${Table} caption="The failed requests" rows=${shown} columns=${columnsOf(nameOf)} rowKey=${keyOf} empty=${EMPTY} />`
        : !error && html`<${Skeleton} label="The failed requests" />`
    }
    ${
      data &&
      shown !== data &&
      data.length > FIRST &&
      html`<div class="row">
        <button type="button" onClick=${() => setIsWhole(true)}>Show all ${data.length}</button>
      </div>`
    }
  </section>`;
}

const EMPTY = 'There are none. The service forgets them when it restarts.';

/** @param {FailedRequest} failed */
const keyOf = ({ requestId, timestamp, method, path }) => `${requestId} ${timestamp} ${method} ${path}`;

/** @param {import('./api.js').NameOf} nameOf @returns {import('../shared/table.js').Columns<FailedRequest>} */
const columnsOf = (nameOf) => [
  { name: 'Why', isName: true, cell: ({ message }) => html`<${Name} text=${message} />` },
  {
    name: 'Code',
    cell: ({ status, code }) =>
      html`<span class="fixed"><${Badge} kind=${status >= 500 ? 'bad' : 'warn'}>${status}<//> <span>${code}</span></span>`,
  },
  {
    name: 'Request',
    cell: ({ method, path }) => html`<span class="fixed">${method} ${path ?? 'unknown path'}</span>`,
  },
  { name: 'Key', cell: ({ keyId }) => html`<${Name} text=${nameOf(keyId)} />` },
  { name: 'Time', cell: ({ timestamp }) => html`<${Time} at=${timestamp} isExact />` },
  { name: 'Request id', cell: ({ requestId }) => html`<code><${Name} text=${requestId} /></code>` },
];
