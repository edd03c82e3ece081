import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Time } from '../shared/format.js';
import { Field } from '../shared/forms.js';
import { Badge } from '../shared/notice.js';
import { Name } from '../shared/table.js';
import { withQuery } from './api.js';
import { AccountPicker } from './fields.js';
import { ACCOUNT, ListTable, useList } from './list.js';
import { Page } from './page.js';
import { filterBy, usePlace } from './router.js';

const STATUSES = ['400', '401', '403', '404', '405', '409', '412', '413', '415', '422', '429', '500', '503'];

export function Faults() {
  const { query } = usePlace();
  const filters = Object.fromEntries(
    ['requestId', 'accountId', 'status'].map((name) => [name, query.get(name) ?? undefined]),
  );
  const [text, setText] = useState(filters.requestId ?? '');
  const intro = 'The last 10,000 refused and failed requests of this instance, since it started.';
  /** @param {Event} event */
  const find = (event) => {
    event.preventDefault();
    filterBy({ requestId: text.trim() });
  };
  const choices = [
    { value: '', text: 'All' },
    ...STATUSES.map((status) => ({ value: status, text: status })),
  ];
  return html`<${Page} title="Faults" intro=${intro}>
    <search class="filters">
      <form class="with-button" onSubmit=${find}>
        <${Field} label="Request id" type="search" maxlength="200" autocomplete="off" spellcheck="false" value=${text}
          onValue=${setText} />
        <button type="submit">Find</button>
      </form>
      <${Field} label="Status" value=${filters.status ?? ''} choices=${choices}
        onValue=${(/** @type {string} */ status) => filterBy({ status })} />
      <${AccountPicker} id=${filters.accountId} onId=${(/** @type {string} */ accountId) => filterBy({ accountId })} />
    </search>
    <${FaultTable} filters=${{ ...filters, limit: 100 }} />
  <//>`;
}

/** Seconds between two polls. */
const LIVE = 5;

/**
 * The last refused and failed requests of this instance.
 * @param {{ filters: { limit: number, [filter: string]: unknown }, isOfAccount?: boolean }} props
 */
export function FaultTable({ filters: { limit, ...filters }, isOfAccount = false }) {
  const list = useList(withQuery('/faults', { ...filters, limit }), LIVE);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  /** @type {import('../shared/table.js').Columns<import('./schema.d.ts').Faults[number]>} */
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
  const rowKey = (/** @type {import('./schema.d.ts').Faults[number]} */ { time, requestId, method }) =>
    `${time} ${requestId} ${method}`;
  return html`<${ListTable} list=${list} caption="Refused and failed requests" columns=${columns} rowKey=${rowKey}
    empty="This instance has had no ${isFiltered ? 'such request' : 'refused or failed request'} since it started." />`;
}
