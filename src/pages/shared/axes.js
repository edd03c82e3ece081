import { compact } from './format.js';

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
 * @returns {import('uplot').Axis[]}
 */
export function axes(colour, isWhole) {
  const both = { stroke: colour('muted'), font: FONT, ticks: { show: false } };
  const time = { ...both, size: 26, label: 'Time in UTC', labelFont: FONT, labelSize: 18 };
  const values = { ...both, size: 52, ...(isWhole ? { incrs: WHOLE_STEPS } : {}) };
  return [
    { ...time, grid: { show: false }, values: timeLabels },
    { ...values, grid: { stroke: colour('line'), width: 1 }, values: (_, splits) => splits.map(compact) },
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

/** Resolves a colour of the style sheet, because a canvas does not support custom properties. @param {HTMLElement} place */
export function colours(place) {
  return (/** @type {string} */ name) => {
    const probe = document.createElement('span');
    probe.style.color = `var(--${name})`;
    place.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
