import { html } from 'htm/preact';

/**
 * @template R
 * @typedef {{
 *   name: string, cell: (row: R) => import('preact').ComponentChildren, isNumber?: boolean, isName?: boolean,
 * }} Column `isName`: the cell names its row. A column without a name has buttons.
 */

/** @template [R=any] @typedef {readonly (Column<R> | false)[]} Columns `false` is no column */

/**
 * A table that scrolls in a region of its own, with the header in view.
 * @template R
 * @param {{
 *   caption: string, columns: Columns<R>, rows: readonly R[], rowKey?: (row: R) => string | number, empty?: string,
 * }} props without `rowKey`, each row has an `id`
 */
export function Table({ caption, columns, rows, rowKey = idOf, empty = 'There is nothing here yet.' }) {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const shown = columns.filter((column) => column !== false);
  return html`<div class="scroll" role="region" aria-label=${caption} tabindex="0">
    <table>
      <caption class="hidden-text">${caption}</caption>
      <thead><tr>${shown.map(
        ({ name, isNumber }) =>
          html`<th scope="col" class=${isNumber ? 'number' : undefined}>
            ${name === '' ? html`<span class="hidden-text">Actions</span>` : name}
          </th>`,
      )}</tr></thead>
      <tbody>${rows.map(
        (row) =>
          html`<tr key=${rowKey(row)}>${shown.map(({ cell, isName, isNumber }) =>
            isName
              ? html`<th scope="row">${cell(row)}</th>`
              : html`<td class=${isNumber ? 'number' : undefined}>${cell(row)}</td>`,
          )}</tr>`,
      )}</tbody>
    </table>
  </div>`;
}

/** @param {any} row */
const idOf = ({ id }) => id;

/** A name of any length: two lines of it, and all of it as the title. @param {{ text: string }} props */
export function Name({ text }) {
  return html`<span class="name" title=${text}>${text}</span>`;
}
