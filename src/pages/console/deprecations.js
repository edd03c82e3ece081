import { html } from 'htm/preact';
import { number, Time } from '../shared/format.js';
import { usePoll } from '../shared/poll.js';
import { Table } from '../shared/table.js';
import { nameOperation } from '../shared/usage.js';
import { get } from './api.js';
import { ACCOUNT, KEY, ListTable, useList } from './list.js';
import { Card, Page } from './page.js';

/** Seconds between two polls. */
const REFRESH = 60;
const SLOW_REFRESH = 600;

export function Deprecations() {
  const list = useList('/deprecations?limit=100', REFRESH);
  const intro = 'Keys that called a deprecated operation in the last 30 days, most requests first.';
  return html`<${Page} title="Deprecations" intro=${intro}>
    <${ListTable} list=${list} caption="Calls of deprecated operations" columns=${COLUMNS} rowKey=${keyOf}
      empty="No key called a deprecated operation in the last 30 days." />
  <//>`;
}

/** The keys with the most calls, for the overview. It shows nothing while there are none. */
export function DeprecationsCard() {
  const { data } = usePoll(
    /** @returns {Promise<import('./schema.d.ts').DeprecatedUses>} */ (signal) =>
      get('/deprecations?limit=5', signal),
    SLOW_REFRESH,
  );
  if (data === undefined || data.length === 0) return null;
  return html`<${Card} title="Calls of deprecated operations" actions=${html`<a href="/deprecations">All deprecations</a>`}>
    <${Table} caption="Most calls of deprecated operations" rows=${data} rowKey=${keyOf} columns=${COLUMNS} />
  <//>`;
}

const keyOf = (/** @type {{ operation: string, keyId: number }} */ { operation, keyId }) =>
  `${operation} ${keyId}`;

/** @type {import('../shared/table.js').Columns<import('./schema.d.ts').DeprecatedUses[number]>} */
const COLUMNS = [
  { name: 'Operation', isName: true, cell: ({ operation }) => nameOperation(operation) },
  ACCOUNT,
  KEY,
  { name: 'Requests', isNumber: true, cell: ({ requests }) => number(requests) },
  { name: 'Last hour', cell: ({ lastHour }) => html`<${Time} at=${lastHour} />` },
  { name: 'Use instead', cell: ({ successor }) => html`<code>GET ${successor}</code>` },
  { name: 'Removed on', cell: ({ removal }) => html`<span class="fixed">${removal.slice(0, 10)}</span>` },
];
