import { html } from 'htm/preact';

/**
 * @template R
 * @typedef {{
 *   name: string, cell: (row: R) => import('preact').ComponentChildren, isNumber?: boolean, isName?: boolean,
 * }} Column `isName`: the cell names its row. A column without a name has buttons.
 */

/** @template [R=any] @typedef {readonly (Column<R> | false)[]} Columns `false` is no column */

/**
 * A table. On a phone each row is a card, in which each cell shows the name of its column. The roles are written out,
 * because a table that is laid out as cards loses them in some browsers.
 * @template R
 * @param {{
 *   caption: string, columns: Columns<R>, rows: readonly R[], total?: R | undefined, rowKey?: (row: R) => string | number,
 *   empty?: string,
 * }} props without `rowKey`, each row has an `id`
 */
export function Table({
  caption,
  columns,
  rows,
  total,
  rowKey = idOf,
  empty = 'There is nothing here yet.',
}) {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const shown = columns.filter((column) => column !== false);
  return html`<div class="scroll cards" role="region" aria-label=${caption} tabindex="0">
    <table role="table">
      <caption class="hidden-text">${caption}</caption>
      <thead role="rowgroup"><tr role="row">${shown.map(
        ({ name, isNumber }) =>
          html`<th role="columnheader" scope="col" class=${isNumber ? 'number' : undefined}>
            ${name === '' ? html`<span class="hidden-text">Actions</span>` : name}
          </th>`,
      )}</tr></thead>
      <tbody role="rowgroup">${rows.map(
        (row) => html`<tr key=${rowKey(row)} role="row">${shown.map((column) => toCell(column, row))}</tr>`,
      )}</tbody>
      ${
        total !== undefined &&
        html`<tfoot role="rowgroup"><tr role="row">${shown.map((column) => toCell(column, total))}</tr></tfoot>`
      }
    </table>
  </div>`;
}

/** @template R @param {Column<R>} column @param {R} row */
function toCell({ name, cell, isName, isNumber }, row) {
  const value = html`<div>${cell(row)}</div>`;
  return isName
    ? html`<th role="rowheader" scope="row" data-column=${name}>${value}</th>`
    : html`<td role="cell" data-column=${name} class=${isNumber ? 'number' : undefined}>${value}</td>`;
}

/** @param {any} row */
const idOf = ({ id }) => id;

/** A name of any length: two lines of it, and all of it as the title. @param {{ text: string }} props */
export function Name({ text }) {
  return html`<span class="name" title=${text}>${text}</span>`;
}
