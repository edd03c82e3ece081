import { html } from 'htm/preact';
import { number, Time } from '../shared/format.js';
import { nameOperation } from '../shared/usage.js';
import { ACCOUNT, KEY, ListTable, useList } from './list.js';
import { Page } from './page.js';

/** Seconds between two polls. */
const REFRESH = 60;

export function Deprecations() {
  const list = useList('/deprecations?limit=100', REFRESH);
  const intro = 'Keys that called a deprecated operation in the last 30 days, most requests first.';
  return html`<${Page} title="Deprecations" intro=${intro}>
    <${ListTable} list=${list} caption="Calls of deprecated operations" columns=${COLUMNS}
      rowKey=${(/** @type {{ operation: string, keyId: number }} */ { operation, keyId }) => `${operation} ${keyId}`}
      empty="No key called a deprecated operation in the last 30 days." />
  <//>`;
}

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
