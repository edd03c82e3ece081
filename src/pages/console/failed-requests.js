import { html } from 'htm/preact';
import { ERROR_CODES } from '../../domain/errors.ts';
import { number, Time } from '../shared/format.js';
import { Badge } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { Name } from '../shared/table.js';
import { nameOperation } from '../shared/usage.js';
import { get, withQuery } from './api.js';
import { FindField } from './catalogue.js';
import { ChoiceFilter, SearchField, useFilters } from './fields.js';
import { ACCOUNT, AccountLink, ListTable, useList } from './list.js';
import { Page } from './page.js';
import { filterBy } from './router.js';

/** @typedef {import('./schema.d.ts').FailedRequestGroups[number]} FailedRequestGroup */

const CODES = ERROR_CODES.map((code) => ({ value: code, text: code }));

export function FailedRequests() {
  const filters = useFilters(['account', 'accountId', 'operation', 'code', 'requestId']);
  const intro =
    'The last 10,000 refused and failed requests of this instance, since it started. Those with the same cause are one row.';
  return html`<${Page} title="Failed requests" intro=${intro}>
    <search class="filters">
      ${
        filters.accountId === undefined
          ? html`<${SearchField} label="Account" name="account" />`
          : html`<${OneAccount} id=${filters.accountId} />`
      }
      <${SearchField} label="Operation" name="operation" />
      <${ChoiceFilter} label="Code" name="code" choices=${CODES} />
      <${FindField} label="Request id" maxlength="128" spellcheck="false" text=${filters.requestId ?? ''}
        onText=${(/** @type {string} */ text) => filterBy({ requestId: text.trim() })} />
    </search>
    <${FailedRequestTable} filters=${{ ...filters, limit: 100 }} />
  <//>`;
}

/** The account that the page is about, until somebody wants to see all. @param {{ id: string }} props */
function OneAccount({ id }) {
  const { data } = usePoll(
    /** @returns {Promise<import('./schema.d.ts').Account>} */ (signal) => get(`/accounts/${id}`, signal),
    Number.POSITIVE_INFINITY,
  );
  return html`<div class="field">
    <span>Account</span>
    <div class="row">
      <${AccountLink} id=${Number(id)} name=${data?.name ?? `account ${id}`} />
      <button type="button" onClick=${() => filterBy({ accountId: undefined })}>
        Show all<span class="hidden-text"> accounts</span>
      </button>
    </div>
  </div>`;
}

/** Seconds between two polls. */
const LIVE = 5;

/**
 * The last refused and failed requests of this instance, those with the same cause as one row.
 * @param {{ filters: { limit: number, [filter: string]: unknown }, isOfAccount?: boolean }} props
 */
export function FailedRequestTable({ filters: { limit, ...filters }, isOfAccount = false }) {
  const list = useList(withQuery('/failed-requests/groups', { ...filters, limit }), LIVE);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const empty = isOfAccount
    ? 'This instance keeps no refused or failed request of this account.'
    : isFiltered
      ? 'No failed request fits these filters.'
      : 'This instance has had no refused or failed request since it started.';
  return html`<${ListTable} list=${list} caption="Refused and failed requests" rowKey=${keyOf} empty=${empty}
    columns=${isOfAccount ? COLUMNS.filter(({ name }) => name !== ACCOUNT.name) : COLUMNS} />`;
}

/** The row stays the same while its requests repeat. @param {FailedRequestGroup} group */
const keyOf = ({ firstTime, last: { status, code, method, path, keyId, message } }) =>
  [firstTime, status, code, method, path, keyId, status === 429 ? '' : message].join(' ');

/** @type {import('../shared/table.js').Column<FailedRequestGroup>[]} */
const COLUMNS = [
  {
    name: 'Why',
    isName: true,
    cell: ({ last: { id, message } }) =>
      html`<a href="/failed-requests/${id}"><${Name} text=${message} /></a>`,
  },
  { name: 'Code', cell: ({ last }) => html`<${Answer} ...${last} />` },
  {
    name: 'Request',
    cell: ({
      last: { method, path, operation },
    }) => html`<span class="fixed">${method} ${path ?? 'unknown path'}</span>
      ${operation && html`<div class="muted fixed">${nameOperation(operation)}</div>`}`,
  },
  { name: ACCOUNT.name, cell: ({ last }) => ACCOUNT.cell(last) },
  { name: 'Key', isNumber: true, cell: ({ last: { keyId } }) => keyId ?? '–' },
  { name: 'Times', isNumber: true, cell: ({ count }) => number(count) },
  {
    name: 'Last',
    cell: ({ count, firstTime, last: { time } }) => html`<${Time} at=${time} isExact />
      ${count > 1 && html`<div class="muted fixed">first <${Time} at=${firstTime} isExact /></div>`}`,
  },
];

/** The status and the code of an answer. @param {{ status: number, code: string }} props */
export function Answer({ status, code }) {
  return html`<span class="fixed"><${Badge} kind=${status >= 500 ? 'bad' : 'warn'}>${status}<//> <span>${code}</span></span>`;
}
