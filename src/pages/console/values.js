import { html } from 'htm/preact';
import { number, utcSecond } from '../shared/format.js';
import { Name } from '../shared/table.js';

/** @typedef {string | number | boolean | null | string[] | undefined} Value */
/** @typedef {Record<string, Value>} AuditValues */

/** Numbers that somebody searches or types: digits in groups would not be found. */
const IDS = new Set(['rotatedTo', 'randomSeed']);

/**
 * The values that a change has changed: before → after.
 * @param {{ before?: AuditValues, after?: AuditValues }} props
 */
export function Values({ before = {}, after = {} }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => text(name, before) !== text(name, after));
  if (changed.length === 0) return '–';
  return html`<dl class="changes">${changed.map(
    (name) =>
      html`<div><dt>${name}</dt><dd>
        ${name in before && html`<del><${Name} text=${text(name, before)} /></del>`}
        ${name in before && name in after && html`<span aria-hidden="true">→</span>`}
        ${name in after && html`<ins><${Name} text=${text(name, after)} /></ins>`}
      </dd></div>`,
  )}</dl>`;
}

/** @param {string} name @param {AuditValues} values */
function text(name, values) {
  const value = values[name];
  if (value === undefined || value === null) return 'none';
  if (typeof value === 'number' && !IDS.has(name)) return number(value);
  if (typeof value === 'string' && name.endsWith('At')) return utcSecond(new Date(value));
  return Array.isArray(value) ? value.join(', ') : String(value);
}
