import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { downloadCsv } from './csv.js';
import { number } from './format.js';
import { Fault, Skeleton } from './notice.js';
import { Name, Table } from './table.js';

/**
 * The values of a chart. The first column names the row, and the others are numbers.
 * @typedef {{ columns: readonly string[], rows: readonly (readonly [string, ...(number | undefined)[]])[] }} ChartValues
 */

/**
 * The card of a chart. It also shows the values as a table, and saves them as CSV. Without values, it says why.
 * @param {{
 *   title: string, file: string, values?: ChartValues | undefined, error?: import('./fetch.js').ApiError | undefined,
 *   failingSince?: Date | undefined, isEmpty?: boolean, empty?: string, children: import('preact').ComponentChildren,
 * }} props without `values` it still loads, unless there is an error
 */
export function ChartFrame({ title, file, values, error, failingSince, isEmpty, empty, children }) {
  const [isTable, setIsTable] = useState(false);
  const hasValues = values !== undefined && !isEmpty;
  const save = () => values && downloadCsv(file, [values.columns, ...values.rows]);
  return html`<section class="card" aria-label=${title}>
    <div class="row">
      <h2>${title}</h2>
      <div class="row">
        <button type="button" aria-pressed=${String(isTable)} disabled=${!hasValues} onClick=${() => setIsTable(!isTable)}>
          Table<span class="hidden-text"> of ${title}</span>
        </button>
        <button type="button" disabled=${!hasValues} onClick=${save}>
          CSV<span class="hidden-text"> of ${title}</span>
        </button>
      </div>
    </div>
    ${
      isTable && hasValues
        ? html`<${ValuesTable} title=${title} values=${values} />`
        : hasValues
          ? children
          : html`<div class="plot"><${Absent} ...${{ title, error, failingSince, isEmpty, empty }} /></div>`
    }
  </section>`;
}

/** @param {any} props */
function Absent({ title, error, failingSince, isEmpty, empty = 'There were no requests in this time.' }) {
  if (isEmpty) return html`<p class="empty">${empty}</p>`;
  if (error) return html`<${Fault} error=${error} failingSince=${failingSince} />`;
  return html`<${Skeleton} label=${title} />`;
}

/** @param {{ title: string, values: ChartValues }} props */
function ValuesTable({ title, values: { columns, rows } }) {
  const [first = '', ...numbers] = columns;
  return html`<${Table}
    caption=${title}
    rows=${rows}
    rowKey=${(/** @type {readonly unknown[]} */ row) => rows.indexOf(/** @type {any} */ (row))}
    columns=${[
      { name: first, isName: true, cell: (/** @type {any[]} */ row) => html`<${Name} text=${row[0]} />` },
      ...numbers.map((name, at) => ({
        name,
        isNumber: true,
        cell: (/** @type {any[]} */ row) => (row[at + 1] === undefined ? '–' : number(row[at + 1])),
      })),
    ]}
  />`;
}
