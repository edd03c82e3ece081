import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { PLANS } from '../../domain/plan.ts';
import { ACCOUNT_STATES } from '../../domain/states.ts';
import { FormDialog } from '../shared/dialog.js';
import { Day, number, Time } from '../shared/format.js';
import { say } from '../shared/frame.js';
import { Badge } from '../shared/notice.js';
import { AccountFields, bodyOf, NEW_ACCOUNT } from './account-form.js';
import { change } from './api.js';
import { asChoice, ChoiceFilter, SearchField, useFilters } from './fields.js';
import { AccountLink, ListTable, useCountedList } from './list.js';
import { Page } from './page.js';
import { navigate } from './router.js';
import { useIsAdmin } from './session.js';

export function Accounts() {
  const { sort, ...filters } = useFilters(['search', 'plan', 'state', 'sort']);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const [isNew, setIsNew] = useState(false);
  const isAdmin = useIsAdmin();
  const list = useCountedList('/accounts', 'account', { filters, sort });
  const create = html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Create account</button>`;
  return html`<${Page} title="Accounts" actions=${isAdmin && create}>
    <search class="filters">
      <${SearchField} label="Search" hint="Name or note" />
      <${ChoiceFilter} label="Plan" name="plan" choices=${Object.keys(PLANS).map(asChoice)} />
      <${ChoiceFilter} label="State" name="state" choices=${ACCOUNT_STATES.map(asChoice)} />
      <${ChoiceFilter} label="Sort by" name="sort" all="Newest first" choices=${ORDERS} />
    </search>
    <${ListTable} list=${list} caption="Accounts" columns=${COLUMNS}
      empty=${isFiltered ? 'No account fits these filters.' : 'There are no accounts yet.'} />
    ${isNew && html`<${CreateAccount} onClose=${() => setIsNew(false)} />`}
  <//>`;
}

const ORDERS = [
  { value: 'created', text: 'Oldest first' },
  { value: 'name', text: 'Name' },
  { value: '-lastUsed', text: 'Used last' },
  { value: 'lastUsed', text: 'Unused for longest' },
];

/** @type {import('../shared/table.js').Columns<import('./schema.d.ts').Account>} */
const COLUMNS = [
  {
    name: 'Name',
    isName: true,
    cell: ({ id, name, note }) => html`<${AccountLink} id=${id} name=${name} />
      ${note && html`<span class="name muted" title=${note}>${note}</span>`}`,
  },
  { name: 'Id', cell: ({ id }) => id },
  { name: 'Plan', cell: ({ plan }) => plan },
  { name: 'Per minute', isNumber: true, cell: ({ limits }) => number(limits.perMinute) },
  { name: 'Per day', isNumber: true, cell: ({ limits }) => number(limits.perDay) },
  { name: 'Created', cell: ({ createdAt }) => html`<${Day} at=${createdAt} />` },
  {
    name: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? html`<${Time} at=${lastUsedAt} isRelative />` : 'never'),
  },
  {
    name: 'State',
    cell: ({ suspendedAt }) =>
      suspendedAt ? html`<${Badge} kind="bad">suspended<//>` : html`<${Badge} kind="good">active<//>`,
  },
];

/** @param {{ onClose: () => void }} props */
function CreateAccount({ onClose }) {
  const [typed, setTyped] = useState(NEW_ACCOUNT);
  async function create() {
    /** @type {import('./schema.d.ts').Account} */
    const { id, name } = await change('POST', '/accounts', { ...bodyOf(typed), note: typed.note });
    onClose();
    navigate(`/accounts/${id}`);
    say(`The account ${name} was created. Create its first key here.`);
  }
  return html`<${FormDialog} title="Create account" submit="Create account" onClose=${onClose} onSubmit=${create}>
    <${AccountFields} typed=${typed} onTyped=${setTyped} />
  <//>`;
}
