import { html } from 'htm/preact';
import { Badge } from '../notice.js';
import { Name } from '../table.js';
import { Time } from '../time.js';
import { withQuery } from './api.js';
import { ACCOUNT } from './links.js';
import { ListTable, useList } from './list.js';

/** Seconds between two polls. */
const LIVE = 5;

/**
 * The last refused and failed requests of this instance.
 * @param {{ filters: { limit: number, [filter: string]: unknown }, isOfAccount?: boolean }} props
 */
export function FaultTable({ filters: { limit, ...filters }, isOfAccount = false }) {
  const list = useList(withQuery('/faults', { ...filters, limit }), LIVE);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  /** @type {import('../table.js').Columns} */
  const columns = [
    { name: 'Time', cell: ({ time }) => html`<${Time} at=${time} isExact />` },
    {
      name: 'Status',
      cell: ({ status }) => html`<${Badge} kind=${status >= 500 ? 'bad' : 'warn'}>${status}<//>`,
    },
    { name: 'Code', cell: ({ code }) => code ?? '–' },
    {
      name: 'Request',
      cell: ({ method, operation }) =>
        html`<span class="fixed">${method} ${operation ?? 'no operation'}</span>`,
    },
    !isOfAccount && ACCOUNT,
    { name: 'Key', isNumber: true, cell: ({ keyId }) => keyId ?? '–' },
    {
      name: 'Request id',
      isName: true,
      cell: ({ requestId }) => html`<code><${Name} text=${requestId} /></code>`,
    },
  ];
  const rowKey = (/** @type {any} */ { time, requestId, method }) => `${time} ${requestId} ${method}`;
  return html`<${ListTable} list=${list} caption="Refused and failed requests" columns=${columns} rowKey=${rowKey}
    empty="This instance has had no ${isFiltered ? 'such request' : 'refused or failed request'} since it started." />`;
}
