import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ChartFrame } from './chart-frame.js';
import { local, number, utc } from './format.js';
import { colourName, createPlot, HEIGHT, plotData } from './plot.js';

/** @typedef {import('./plot.js').Plotted} Plotted */

/**
 * Values over time: lines, or stacked bars. Times are UTC; the pointer shows the browser's time too.
 * @param {{
 *   title: string, file: string, plotted?: Plotted | undefined, error?: import('./fetch.js').ApiError | undefined,
 *   failingSince?: Date | undefined, empty?: string,
 * }} props without `plotted` it still loads, unless there is an error
 */
export function Chart({ title, plotted, ...rest }) {
  const isEmpty = plotted?.series.every(({ values }) => values.every((value) => !value));
  const values = plotted && {
    columns: ['Start (UTC)', ...plotted.series.map(({ label }) => label)],
    rows: plotted.starts.map((start, at) => [
      utc(new Date(start * 1000)),
      ...plotted.series.map((its) => its.values[at]),
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
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      scheme.removeEventListener('change', draw);
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
