import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { csvText } from '../../domain/csv.ts';
import { compact, day, everywhere, number, withUnit } from './format.js';
import { Meter } from './meter.js';
import { ErrorNotice, Skeleton } from './notice.js';
import { colourName, createPlot, HEIGHT, mergeRest, plotData } from './plot.js';
import { Name, Table } from './table.js';
import { followTheme } from './theme.js';

/** @typedef {import('./plot.js').Plotted} Plotted */

/**
 * Values over time: lines, or stacked bars. Times are UTC; the pointer shows the browser's time too.
 * @param {{
 *   title: string, file: string, plotted?: Plotted | undefined, error?: import('./fetch.js').PetStoreError | undefined,
 *   failingSince?: Date | undefined, empty?: string, note?: string,
 * }} props `note`: what the values are of; without `plotted` it still loads, unless there is an error
 */
export function Chart({ title, plotted, ...rest }) {
  const isEmpty = plotted?.series.every(({ values }) => values.every((value) => !value));
  const drawn = useMemo(() => plotted && mergeRest(plotted), [plotted]);
  return html`<${ChartFrame} ...${{ title, values: plotted && tableOf(plotted), isEmpty, ...rest }}>
    ${drawn && html`<${Plot} title=${title} plotted=${drawn} />`}
  <//>`;
}

/** The values of a chart by their starts. Lines have no sum. @param {Plotted} plotted @returns {ChartValues} */
function tableOf({ kind, starts, interval, series, unit }) {
  const sums = series.map(({ values }) => sumOf(values));
  return {
    columns: [
      'Start (UTC)',
      ...series.map(({ label }) => (unit === undefined ? label : `${label} (${unit})`)),
    ],
    rows: starts.map((start, at) => [startText(start, interval), ...series.map(({ values }) => values[at])]),
    ...(kind === 'bars' ? { total: { all: sumOf(sums), row: ['Total', ...sums] } } : {}),
  };
}

/** @param {readonly (number | undefined)[]} values */
const sumOf = (values) => values.reduce((/** @type {number} */ sum, value) => sum + (value ?? 0), 0);

/** Seconds. */
const DAY = 86_400;

/**
 * The start of an interval in UTC, as spreadsheets read it too: a day, or a day and a time. @param {number} start Unix seconds @param {number} interval seconds
 */
function startText(start, interval) {
  const date = new Date(start * 1000);
  return interval < DAY ? date.toISOString().slice(0, 16).replace('T', ' ') : day(date);
}

/** @param {{ title: string, plotted: Plotted }} props */
function Plot({ title, plotted }) {
  const [hovered, setHovered] = useState(/** @type {number | undefined} */ (undefined));
  const canvas = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plot = useRef(/** @type {import('uplot') | undefined} */ (undefined));
  const { kind, starts, series, interval, unit } = plotted;
  const shape = JSON.stringify([kind, interval, series.map(({ label, colour }) => [label, colour])]);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = createPlot(element, plotted, setHovered);
    };
    draw();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    const unfollow = followTheme(draw);
    return () => {
      unfollow();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(plotData(plotted)), [plotted]);
  const [first = 0] = starts;
  // A range of days ends with a day, and one of hours with an instant.
  const last = (starts.at(-1) ?? 0) + (interval < DAY ? interval : 0);
  const at = starts[hovered ?? -1];
  return html`<figure class="stack">
    <p class="muted readout">
      ${
        at === undefined
          ? `${startText(first, interval)} to ${startText(last, interval)} UTC`
          : everywhere(new Date(at * 1000), `${startText(at, interval)} UTC`)
      }
    </p>
    <div class="plot" ref=${canvas} role="img" aria-label="${title}, as a chart. The table has the same values."></div>
    <${Legend} ...${{ kind, series, unit, hovered: at === undefined ? undefined : hovered }} />
  </figure>`;
}

/**
 * The names of the series with their values under the pointer; else with the sums of bars or the last values of lines. A
 * series without such a value has its name alone.
 * @param {Pick<Plotted, 'kind' | 'series' | 'unit'> & { hovered: number | undefined }} props
 */
function Legend({ kind, series, unit, hovered }) {
  const shown = (/** @type {readonly (number | undefined)[]} */ values) => {
    if (hovered !== undefined) return values[hovered];
    return kind === 'lines' ? values.findLast((value) => value !== undefined) : sumOf(values);
  };
  return html`<ul class="legend">
    ${series.map(({ label, href, colour, values }, at) => {
      const value = shown(values);
      return html`<li>
        <span class="swatch" style=${{ background: `var(--${colourName(colour, at)})` }}></span>${href ? html`<a href=${href}>${label}</a>` : label}
        ${value !== undefined && html`<b>${withUnit(number(value), unit)}</b>`}
      </li>`;
    })}
  </ul>`;
}

/**
 * Values by name, as horizontal bars with the largest first. The table and the CSV have all of them.
 * @param {{
 *   title: string, file: string, name: string, unit: string, values?: readonly { label: string, value: number }[],
 *   most?: number, error?: import('./fetch.js').PetStoreError | undefined, failingSince?: Date | undefined, empty?: string,
 * }} props `name` and `unit` are the headers of the columns; there are at most `most` bars
 */
export function Ranking({ title, name, unit, values, most = 10, ...rest }) {
  const sorted = values?.toSorted((one, other) => other.value - one.value);
  const largest = sorted?.[0]?.value ?? 0;
  const sum = sumOf(sorted?.map(({ value }) => value) ?? []);
  const frame = {
    title,
    ...rest,
    isEmpty: values !== undefined && largest === 0,
    values: sorted && {
      columns: [name, unit],
      rows: sorted.map(({ label, value }) => [label, value]),
      total: { all: sum, row: ['Total', sum] },
    },
  };
  return html`<${ChartFrame} ...${frame}>
    <ul class="ranking">
      ${sorted?.slice(0, most).map(
        ({ label, value }) =>
          html`<li>
            <${Name} text=${label} />
            <span class="number" title=${number(value)}>${compact(value)}</span>
            <${Meter} part=${value / largest} />
          </li>`,
      )}
    </ul>
    ${sorted && sorted.length > most && html`<p class="muted">The table has all ${sorted.length}.</p>`}
  <//>`;
}

/**
 * The values of a chart. The first column names the row, and the others are numbers. Requests have a total: of each
 * column, and of all.
 * @typedef {readonly [string, ...(number | undefined)[]]} ChartRow
 * @typedef {{ columns: readonly string[], rows: readonly ChartRow[], total?: { all: number, row: ChartRow } }} ChartValues
 */

/**
 * The card of a chart. It also shows the values as a table, and saves them as CSV. Without values, it says why.
 * @param {{
 *   title: string, file: string, values?: ChartValues | undefined, error?: import('./fetch.js').PetStoreError | undefined,
 *   failingSince?: Date | undefined, isEmpty?: boolean, empty?: string, note?: string, children: import('preact').ComponentChildren,
 * }} props without `values` it still loads, unless there is an error
 */
function ChartFrame({ title, file, values, error, failingSince, isEmpty, empty, note, children }) {
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
    ${note && html`<p class="muted">${note}</p>`}
    ${hasValues && values.total && html`<${Total} requests=${values.total.all} />`}
    ${
      isTable && hasValues
        ? html`<${ValuesTable} title=${title} values=${values} />`
        : hasValues
          ? children
          : html`<div class="plot"><${Absent} ...${{ title, error, failingSince, isEmpty, empty }} /></div>`
    }
  </section>`;
}

/** @param {{ requests: number }} props */
function Total({ requests }) {
  return html`<p class="total"><b>${number(requests)}</b> ${requests === 1 ? 'request' : 'requests'}</p>`;
}

/**
 * Downloads rows as a file.
 * @param {string} name without its ending
 * @param {Parameters<typeof csvText>[0]} rows
 */
export function downloadCsv(name, rows) {
  const url = URL.createObjectURL(new Blob([csvText(rows)], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}

/** @param {any} props */
function Absent({ title, error, failingSince, isEmpty, empty = 'There were no requests in this time.' }) {
  if (isEmpty) return html`<p class="empty">${empty}</p>`;
  if (error) return html`<${ErrorNotice} error=${error} failingSince=${failingSince} />`;
  return html`<${Skeleton} label=${title} />`;
}

/** @param {{ title: string, values: ChartValues }} props */
function ValuesTable({ title, values: { columns, rows, total } }) {
  const [first = '', ...numbers] = columns;
  return html`<${Table}
    caption="Values of ${title}"
    rows=${rows}
    total=${total?.row}
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
