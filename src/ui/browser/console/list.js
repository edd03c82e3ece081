import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { usePoll } from '../poll.js';
import { Table } from '../table.js';
import { list } from './api.js';
import { Loaded } from './page.js';

/** Seconds. A list that is not live is loaded once, and after each change. */
const ONCE = Number.POSITIVE_INFINITY;

/**
 * A list of the admin API by pages.
 * @param {string} path with its filters
 * @param {number} [seconds] how often it is loaded
 */
export function useList(path, seconds = ONCE) {
  const shown = useRef({ path, pages: 1 });
  if (shown.current.path !== path) shown.current = { path, pages: 1 };
  const poll = usePoll((signal) => list(path, shown.current.pages, signal), seconds, path);
  const last = useRef(poll.data);
  if (poll.data) last.current = poll.data.rows.length === 0 ? undefined : poll.data;
  const more = () => {
    shown.current.pages += 1;
    poll.refresh();
  };
  // While another filter loads, the rows of the one before stay, so that nothing jumps. That there were none is not shown
  // for another filter.
  return { ...poll, data: poll.data ?? (poll.error ? undefined : last.current), more };
}

/** @typedef {ReturnType<typeof useList>} List */

/**
 * The rows of a list as a table, with the button for the next page.
 * @param {{
 *   list: List, caption: string, columns: import('../table.js').Columns, empty?: string,
 *   rowKey?: (row: any) => string | number,
 * }} props
 */
export function ListTable({ list: its, ...rest }) {
  return html`<${Loaded} poll=${its} label=${rest.caption}>${(/** @type {any} */ { rows }) => html`
    <div class="stack">
      <${Table} rows=${rows} ...${rest} />
      <${More} list=${its} />
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
