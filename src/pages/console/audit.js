import { html } from 'htm/preact';
import { number, Time, utcSecond } from '../shared/format.js';
import { fieldOf, instantOf, UtcField } from '../shared/forms.js';
import { Name } from '../shared/table.js';
import { withQuery } from './api.js';
import { AccountPicker } from './fields.js';
import { AccountLink, ListTable, useList } from './list.js';
import { Page } from './page.js';
import { filterBy, usePlace } from './router.js';

export function Audit() {
  const { query } = usePlace();
  const accountId = query.get('accountId') ?? undefined;
  const since = query.get('since');
  const list = useList(withQuery('/audit', { accountId, since: since ?? undefined, limit: 50 }));
  return html`<${Page} title="Audit log" intro="Every change, newest first. The database refuses to change an entry.">
    <search class="filters">
      <${AccountPicker} id=${accountId} onId=${(/** @type {string} */ id) => filterBy({ accountId: id })} />
      <${UtcField} label="Since (UTC)" value=${fieldOf(since)}
        onValue=${(/** @type {string} */ value) => filterBy({ since: instantOf(value) })} />
    </search>
    <${ListTable} list=${list} caption="Changes" columns=${COLUMNS} empty="Nothing was changed in this time." />
  <//>`;
}

/** @type {import('../shared/table.js').Columns<import('./schema.d.ts').AuditEntries[number]>} */
const COLUMNS = [
  { name: 'Time', cell: ({ time }) => html`<${Time} at=${time} isExact />` },
  {
    name: 'By',
    cell: ({ actor, address }) => html`<${Name} text=${actor.name} />
      <span class="muted fixed">${actor.kind}${address && `, ${address}`}</span>`,
  },
  { name: 'Action', cell: ({ action }) => html`<span class="fixed">${action}</span>` },
  {
    name: 'Target',
    cell: ({ target, accountId }) => html`<${Target} target=${target} accountId=${accountId} />`,
  },
  { name: 'Change', cell: ({ before, after }) => html`<${Values} before=${before} after=${after} />` },
];

/** @param {Pick<import('./schema.d.ts').AuditEntries[number], 'target' | 'accountId'>} props */
function Target({ target: { kind, name }, accountId }) {
  return html`${accountId === undefined ? html`<${Name} text=${name} />` : html`<${AccountLink} id=${accountId} name=${name} />`}
    <span class="muted fixed">${kind}</span>`;
}

/** Numbers that somebody searches or types: digits in groups would not be found. */
const IDS = new Set(['rotatedTo', 'randomSeed']);

/**
 * The values that a change has changed: before → after.
 * @param {Pick<import('./schema.d.ts').AuditEntries[number], 'before' | 'after'>} props
 */
function Values({ before = {}, after = {} }) {
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

/** @param {string} name @param {Readonly<Record<string, unknown>>} values */
function text(name, values) {
  const value = /** @type {string | number | boolean | null | string[] | undefined} */ (values[name]);
  if (value === undefined || value === null) return 'none';
  if (typeof value === 'number' && !IDS.has(name)) return number(value);
  if (typeof value === 'string' && name.endsWith('At')) return utcSecond(new Date(value));
  return Array.isArray(value) ? value.join(', ') : String(value);
}
