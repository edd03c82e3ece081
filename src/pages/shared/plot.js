import uPlot from 'uplot';
import { compact, withUnit } from './format.js';

/**
 * @typedef {{ label: string, href?: string | undefined, colour?: string | undefined, values: readonly (number | undefined)[] }} Series one value
 *   for each start; `colour` is the name of one of the style sheet, by default that of the next series
 * @typedef {{ kind: 'lines' | 'bars', starts: readonly number[], series: readonly Series[], interval: number, unit?: string }} Plotted
 *   `starts` are Unix seconds, `interval` is the length of each in seconds; bars are stacked; `unit` is that of the values: `ms`
 */

/** Pixels. */
export const HEIGHT = 224;

/** Lines differ in their dashes too, for readers who cannot tell the colours. */
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3], [5, 5], [16, 4], [2, 6], [8, 3, 2, 3, 2, 3]];

/** The name of the colour in the style sheet. @param {string | undefined} colour of a series @param {number} at its index */
export const colourName = (colour, at) => colour ?? `series-${(at % 8) + 1}`;

/** The most series that a chart draws, one for each colour. */
const MOST_SERIES = 8;

/**
 * The series that a chart draws: the first ones, and the sum of the rest in the last colour. Table and CSV have all.
 * @param {Plotted} plotted
 * @returns {Plotted}
 */
export function mergeRest(plotted) {
  const { starts, series } = plotted;
  if (series.length <= MOST_SERIES) return plotted;
  const rest = series.slice(MOST_SERIES - 1);
  const values = starts.map((_, at) => rest.reduce((sum, each) => sum + (each.values[at] ?? 0), 0));
  const others = { label: `${rest.length} others`, colour: `series-${MOST_SERIES}`, values };
  return { ...plotted, series: [...series.slice(0, MOST_SERIES - 1), others] };
}

/**
 * The columns that uPlot draws. Stacked bars are drawn from the highest sum down, so that each covers the one before.
 * @param {Plotted} plotted
 * @returns {uPlot.AlignedData}
 */
export function plotData({ kind, starts, series }) {
  if (kind === 'lines')
    return [[...starts], ...series.map(({ values }) => values.map((value) => value ?? null))];
  const sums = starts.map(() => 0);
  const columns = series.map(({ values }) => sums.map((sum, at) => (sums[at] = sum + (values[at] ?? 0))));
  return [[...starts], ...columns.toReversed()];
}

/** A value without neighbours makes no line, so it is drawn as a point. @param {uPlot} self @param {number} series */
function lonely({ data }, series) {
  const values = data[series] ?? [];
  return [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
}

/**
 * Draws into `element`, in the colours of the style sheet.
 * @param {HTMLElement} element
 * @param {Plotted} plotted
 * @param {(at: number | undefined) => void} onHover gets the index of the start under the pointer
 */
export function createPlot(element, plotted, onHover) {
  const { kind, series, interval, unit } = plotted;
  const isBars = kind === 'bars';
  const colour = colours(element);
  const isWhole = series.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)));
  const lines = series.map(({ label, colour: name }, at) => {
    const drawn = colour(colourName(name, at));
    if (!isBars)
      return {
        label,
        stroke: drawn,
        width: 2,
        dash: DASHES[at % 8] ?? [],
        points: { show: false, filter: lonely },
      };
    return {
      label,
      fill: drawn,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars?.({ size: [0.8, 48], align: 1 }),
    };
  });
  /** @type {uPlot.Options} */
  const options = {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    series: [{}, .../** @type {uPlot.Series[]} */ (isBars ? lines.toReversed() : lines)],
    scales: {
      x: { range: (_, from, to) => [from, isBars ? to + interval : Math.max(to, from + interval)] },
      y: { range: (_, __, to) => [0, to > 0 ? to * 1.08 : 1] },
    },
    axes: axes(colour, isWhole, unit),
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: {
      drag: { x: false, y: false },
      y: false,
      points: { show: !isBars },
      // A bar stands to the right of its start.
      dataIdx: (self, _, closest, at) =>
        isBars && (self.data[0][closest] ?? 0) > at ? Math.max(0, closest - 1) : closest,
    },
    // `cursor.idx` is the closest start, without `dataIdx`.
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idxs?.[0] ?? undefined)] },
  };
  return new uPlot(options, plotData(plotted), element);
}

/** Seconds. */
const DAY = 86_400;
const FONT = '12px system-ui';

/** Steps of an axis of whole numbers. */
const WHOLE_STEPS = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((first) => first * 10 ** power),
).flat();

/**
 * The axes of a plot: times in UTC below, numbers from 0 at the left.
 * @param {(name: string) => string} colour
 * @param {boolean} isWhole whether all values are whole numbers
 * @param {string | undefined} unit
 * @returns {import('uplot').Axis[]}
 */
function axes(colour, isWhole, unit) {
  const both = { stroke: colour('muted'), font: FONT, ticks: { show: false } };
  const time = { ...both, size: 26, label: 'Time in UTC', labelFont: FONT, labelSize: 18 };
  const values = { ...both, size: 52, ...(isWhole ? { incrs: WHOLE_STEPS } : {}) };
  return [
    { ...time, grid: { show: false }, values: timeLabels },
    {
      ...values,
      grid: { stroke: colour('line'), width: 1 },
      values: (_, splits) => splits.map((value) => withUnit(compact(value), unit)),
    },
  ];
}

/** @param {unknown} _ @param {number[]} splits @param {number} __ @param {number} ___ @param {number} step */
function timeLabels(_, splits, __, ___, step) {
  return splits.map((seconds) => {
    const date = new Date(seconds * 1000);
    const isTime = step < DAY && seconds % DAY !== 0;
    if (isTime) return date.toISOString().slice(11, 16);
    return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  });
}

/** Resolves a colour of the style sheet, because a canvas does not support custom properties. @param {HTMLElement} element */
function colours(element) {
  return (/** @type {string} */ name) => {
    const probe = document.createElement('span');
    probe.style.color = `var(--${name})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
