import { html } from 'htm/preact';
import { Name } from '../shared/table.js';
import { Time } from '../shared/time.js';
import { withQuery } from './api.js';
import { AccountPicker } from './account-picker.js';
import { AccountLink } from './links.js';
import { ListTable, useList } from './list.js';
import { Page } from './page.js';
import { filterBy, usePlace } from './router.js';
import { UtcField, fieldOf, instantOf } from './utc-field.js';
import { Values } from './values.js';

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

/** @type {import('../shared/table.js').Columns} */
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

/** @param {{ target: { kind: string, name: string }, accountId?: number }} props */
function Target({ target: { kind, name }, accountId }) {
  return html`${accountId === undefined ? html`<${Name} text=${name} />` : html`<${AccountLink} id=${accountId} name=${name} />`}
    <span class="muted fixed">${kind}</span>`;
}
