import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { PetStoreError } from '../../../client/src/errors.ts';
import { downloadCsv } from '../shared/chart.js';
import { explain } from '../shared/fetch.js';
import { number, Time, utcSecond } from '../shared/format.js';
import { fieldOf, instantOf, UtcField } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Name } from '../shared/table.js';
import { getPages, withQuery } from './api.js';
import { AccountPicker, ChoiceFilter, SearchField, useFilters } from './fields.js';
import { AccountLink, ListTable, useList } from './list.js';
import { Page } from './page.js';
import { filterBy } from './router.js';
import { ACTIONS, TARGETS } from './terms.js';

export function Audit() {
  const filters = useFilters(['actor', 'action', 'accountId', 'since']);
  const { accountId, since = null } = filters;
  const list = useList(withQuery('/audit', { ...filters, limit: 50 }));
  return html`<${Page} title="Audit log" actions=${html`<${CsvButton} filters=${filters} />`}
    intro=${INTRO}>
    <search class="filters">
      <${SearchField} label="By" name="actor" hint="Operator, user of the system, or number of a key" />
      <${ChoiceFilter} label="Action" name="action" choices=${ACTION_CHOICES} />
      <${AccountPicker} id=${accountId} onId=${(/** @type {string} */ id) => filterBy({ accountId: id }, { isTyped: true })} />
      <${UtcField} label="Since (UTC)" value=${fieldOf(since)}
        onValue=${(/** @type {string} */ value) => filterBy({ since: instantOf(value) }, { isTyped: true })} />
    </search>
    <${ListTable} list=${list} caption="Changes" columns=${COLUMNS} empty="Nothing was changed in this time." />
  <//>`;
}

const INTRO =
  'What operators and commands changed, and what keys changed of keys and webhooks, newest first. The database refuses to change an ' +
  'entry. What keys do with animals, categories and orders is not here: the page of an animal shows its last change, and ' +
  '"petstore events" shows who did what.';

const ACTION_CHOICES = Object.entries(ACTIONS).map(([value, sentence]) => ({
  value,
  text: sentence.charAt(0).toUpperCase() + sentence.slice(1),
}));

/** Pages of 100 entries that a file has at most. */
const MOST_PAGES = 500;

/** Saves the entries that fit the filters as a file. @param {{ filters: Record<string, string | undefined> }} props */
function CsvButton({ filters }) {
  const [isBusy, setIsBusy] = useState(false);
  async function save() {
    setIsBusy(true);
    try {
      const path = withQuery('/audit', { ...filters, limit: 100 });
      const { rows, next } = await getPages(path, MOST_PAGES, AbortSignal.timeout(600_000));
      downloadCsv('audit-log', [FILE_COLUMNS, ...rows.map(toFileRow)]);
      if (next !== undefined) say(`The file has the newest ${number(rows.length)} entries.`);
    } catch (error) {
      if (!(error instanceof PetStoreError)) throw error;
      say(`There is no file. ${explain(error)}`);
    } finally {
      setIsBusy(false);
    }
  }
  return html`<button type="button" disabled=${isBusy} onClick=${save}>CSV</button>`;
}

const FILE_COLUMNS = [
  'Time',
  'Kind',
  'By',
  'From',
  'Action',
  'Target kind',
  'Target',
  'Account id',
  'Before',
  'After',
];

/** @param {import('./schema.d.ts').AuditEntries[number]} entry */
function toFileRow({ time, actor, address, action, target, accountId, before, after }) {
  const values = (/** @type {object | undefined} */ set) => (set === undefined ? '' : JSON.stringify(set));
  return [
    time,
    actor.kind,
    actor.name,
    address ?? '',
    action,
    target.kind,
    target.name,
    accountId ?? '',
    values(before),
    values(after),
  ];
}

/** @type {import('../shared/table.js').Columns<import('./schema.d.ts').AuditEntries[number]>} */
const COLUMNS = [
  { name: 'Time', cell: ({ time }) => html`<${Time} at=${time} isExact />` },
  {
    name: 'By',
    cell: ({ actor, address }) => html`<${Name} text="${actor.kind} ${actor.name}" />
      ${address && html`<span class="muted fixed">${address}</span>`}`,
  },
  { name: 'Action', cell: ({ action }) => html`<span title=${action}>${ACTIONS[action] ?? action}</span>` },
  {
    name: 'Target',
    cell: ({ target, accountId }) => html`<${Target} target=${target} accountId=${accountId} />`,
  },
  { name: 'Change', cell: ({ before, after }) => html`<${Values} before=${before} after=${after} />` },
];

/**
 * A link to the page that shows the target, if there is one.
 * @param {Pick<import('./schema.d.ts').AuditEntries[number], 'target' | 'accountId'>} props
 */
function Target({ target: { kind, name }, accountId }) {
  const label = `${TARGETS[kind] ?? kind} ${name}`;
  if (kind === 'pet') return html`<a href="/animals/${name}"><${Name} text=${label} /></a>`;
  if (accountId === undefined) return html`<${Name} text=${label} />`;
  if (kind === 'order') return html`<a href="/orders?accountId=${accountId}"><${Name} text=${label} /></a>`;
  return html`<${AccountLink} id=${accountId} name=${label} />`;
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
