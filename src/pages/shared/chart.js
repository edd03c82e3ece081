import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { csvText } from '../../domain/csv.ts';
import { compact, local, number, utc } from './format.js';
import { Meter } from './meter.js';
import { Fault, Skeleton } from './notice.js';
import { colourName, createPlot, HEIGHT, plotData } from './plot.js';
import { Name, Table } from './table.js';
import { followTheme } from './theme.js';

/** @typedef {import('./plot.js').Plotted} Plotted */

/**
 * Values over time: lines, or stacked bars. Times are UTC; the pointer shows the browser's time too.
 * @param {{
 *   title: string, file: string, plotted?: Plotted | undefined, error?: import('./fetch.js').PetStoreError | undefined,
 *   failingSince?: Date | undefined, empty?: string,
 * }} props without `plotted` it still loads, unless there is an error
 */
export function Chart({ title, plotted, ...rest }) {
  const isEmpty = plotted?.series.every(({ values }) => values.every((value) => !value));
  const values = plotted && {
    columns: ['Start (UTC)', ...plotted.series.map(({ label }) => label)],
    rows: plotted.starts.map((start, at) => [
      utc(new Date(start * 1000)),
      ...plotted.series.map((series) => series.values[at]),
    ]),
  };
  return html`<${ChartFrame} ...${{ title, values, isEmpty, ...rest }}>
    ${plotted && html`<${Plot} title=${title} plotted=${plotted} />`}
  <//>`;
}

/** @param {{ title: string, plotted: Plotted }} props */
function Plot({ title, plotted }) {
  const [hovered, setHovered] = useState(/** @type {number | undefined} */ (undefined));
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plot = useRef(/** @type {import('uplot') | undefined} */ (undefined));
  const { kind, starts, series, interval } = plotted;
  const shape = JSON.stringify([kind, interval, series.map(({ label }) => label)]);
  useEffect(() => {
    const element = place.current;
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
  const last = (starts.at(-1) ?? 0) + interval;
  const at = starts[hovered ?? -1];
  return html`<figure class="stack">
    <p class="muted readout">
      ${at === undefined ? `${utc(new Date(first * 1000))} to ${utc(new Date(last * 1000))}` : instant(at)}
    </p>
    <div class="plot" ref=${place} role="img" aria-label="${title}, as a chart. The table has the same values."></div>
    <${Legend} ...${{ kind, series, hovered: at === undefined ? undefined : hovered }} />
  </figure>`;
}

/** @param {number} seconds */
const instant = (seconds) => `${utc(new Date(seconds * 1000))}, here ${local(new Date(seconds * 1000))}`;

/**
 * The names of the series with their values under the pointer; else with the sums of bars or the last values of lines.
 * @param {Pick<Plotted, 'kind' | 'series'> & { hovered: number | undefined }} props
 */
function Legend({ kind, series, hovered }) {
  const shown = (/** @type {readonly (number | undefined)[]} */ values) => {
    if (hovered !== undefined) return values[hovered];
    return kind === 'lines'
      ? values.at(-1)
      : values.reduce((/** @type {number} */ sum, value) => sum + (value ?? 0), 0);
  };
  return html`<ul class="legend">
    ${series.map(({ label, colour, values }, at) => {
      const value = shown(values);
      return html`<li>
        <span class="swatch" style=${{ background: `var(--${colourName(colour, at)})` }}></span>${label}
        <b>${value === undefined ? '–' : number(value)}</b>
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
  const frame = {
    title,
    ...rest,
    isEmpty: values !== undefined && largest === 0,
    values: sorted && { columns: [name, unit], rows: sorted.map(({ label, value }) => [label, value]) },
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
 * The values of a chart. The first column names the row, and the others are numbers.
 * @typedef {{ columns: readonly string[], rows: readonly (readonly [string, ...(number | undefined)[]])[] }} ChartValues
 */

/**
 * The card of a chart. It also shows the values as a table, and saves them as CSV. Without values, it says why.
 * @param {{
 *   title: string, file: string, values?: ChartValues | undefined, error?: import('./fetch.js').PetStoreError | undefined,
 *   failingSince?: Date | undefined, isEmpty?: boolean, empty?: string, children: import('preact').ComponentChildren,
 * }} props without `values` it still loads, unless there is an error
 */
function ChartFrame({ title, file, values, error, failingSince, isEmpty, empty, children }) {
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

/**
 * Downloads rows as a file.
 * @param {string} name without its ending
 * @param {Parameters<typeof csvText>[0]} rows
 */
function downloadCsv(name, rows) {
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
