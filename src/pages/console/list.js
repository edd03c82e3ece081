import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { number } from '../shared/format.js';
import { usePoll } from '../shared/poll.js';
import { Name, Table } from '../shared/table.js';
import { get, getPages, withQuery } from './api.js';
import { Loaded } from './page.js';
import { keepPlace, readPlace } from './router.js';

/** Seconds. A list that is not live is loaded once, and after each change. */
const ONCE = Number.POSITIVE_INFINITY;

/**
 * A list of the admin API by pages.
 * @param {string} path with its filters
 * @param {number} [seconds] how often it is loaded
 */
export function useList(path, seconds = ONCE) {
  const shown = useRef({ path: '', pages: 1 });
  if (shown.current.path !== path) shown.current = { path, pages: readPlace().pages?.[path] ?? 1 };
  const poll = usePoll((signal) => getPages(path, shown.current.pages, signal), seconds, path);
  const last = useRef(poll.data);
  if (poll.data) last.current = poll.data.rows.length === 0 ? undefined : poll.data;
  const more = () => {
    shown.current.pages += 1;
    keepPlace({ pages: { ...readPlace().pages, [path]: shown.current.pages } });
    poll.refresh();
  };
  // While another filter loads, the rows of the one before stay, so that nothing jumps. That there were none is not shown
  // for another filter.
  return { ...poll, data: poll.data ?? (poll.error ? undefined : last.current), more };
}

/**
 * A list of which the service says how long it is.
 * @param {string} path
 * @param {string} thing the singular of its rows: `key`
 * @param {{
 *   filters?: Record<string, string | undefined>, fixed?: Record<string, string>, sort?: string | undefined,
 * }} query the page sets the `fixed` filters, and operators the others
 * @returns {List}
 */
export function useCountedList(path, thing, { filters = {}, fixed = {}, sort }) {
  const list = useList(withQuery(path, { ...fixed, ...filters, sort, limit: 100 }));
  const counted = withQuery(`${path}/count`, { ...fixed, ...filters });
  const { data, refresh } = usePoll(
    /** @returns {Promise<import('./schema.d.ts').ListCount>} */ (signal) => get(counted, signal),
    ONCE,
    counted,
  );
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return {
    ...list,
    length: data && lengthText(data, thing, isFiltered),
    refresh() {
      list.refresh();
      refresh();
    },
  };
}

/** `37 of 212 keys`, or `212 keys`. @param {import('./schema.d.ts').ListCount} counts @param {string} thing @param {boolean} isFiltered */
function lengthText({ count, total }, thing, isFiltered) {
  const all = isFiltered ? total : count;
  const things = all === 1 ? thing : `${thing}s`;
  return isFiltered ? `${number(count)} of ${number(all)} ${things}` : `${number(all)} ${things}`;
}

/** @typedef {ReturnType<typeof useList> & { length?: string | undefined }} List `length` in words, if the service counts it */

/**
 * The rows of a list as a table, with the button for the next page.
 * @param {{
 *   list: List, caption: string, columns: import('../shared/table.js').Columns, empty?: string,
 *   rowKey?: (row: any) => string | number,
 * }} props
 */
export function ListTable({ list, ...rest }) {
  return html`<${Loaded} poll=${list} label=${rest.caption}>${(/** @type {any} */ { rows }) => html`
    <div class="stack">
      ${list.length && rows.length > 0 && html`<p class="muted" role="status">${list.length}</p>`}
      <${Table} rows=${rows} ...${rest} />
      <${More} list=${list} />
    </div>
  `}<//>`;
}

/** The button for the next page of a list, if there is one. @param {{ list: List }} props */
export function More({ list: { data, more } }) {
  return (
    data?.next !== undefined &&
    html`<div class="row">
      <button type="button" onClick=${more}>Show more</button>
      <span class="muted">${data.rows.length} are shown.</span>
    </div>`
  );
}

/** An account by its name, as a link to its page. @param {{ id: number, name: string }} props */
export function AccountLink({ id, name }) {
  return html`<a href="/accounts/${id}"><${Name} text=${name} /></a>`;
}

/** A key by its label and number. @param {{ id: number, label?: string | undefined, ending?: string | undefined }} props */
export function KeyName({ id, label, ending }) {
  const more = `key ${id}${ending === undefined ? '' : `, ends in ${ending}`}`;
  return html`${label === undefined ? html`<span class="name muted">no label</span>` : html`<${Name} text=${label} />`}
    <span class="muted fixed">${more}</span>`;
}

/**
 * The account of a row, if there is one.
 * @type {import('../shared/table.js').Column<{ accountId?: number | undefined, account?: string | undefined }>}
 */
export const ACCOUNT = {
  name: 'Account',
  cell: ({ accountId, account }) =>
    accountId === undefined
      ? '–'
      : html`<${AccountLink} id=${accountId} name=${account ?? `account ${accountId}`} />`,
};

/** The key of a row. @type {import('../shared/table.js').Column<{ keyId: number, label?: string | undefined }>} */
export const KEY = {
  name: 'Key',
  cell: ({ keyId, label }) => html`<${KeyName} id=${keyId} label=${label} />`,
};
