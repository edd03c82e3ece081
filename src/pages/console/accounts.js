import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { number } from '../shared/format.js';
import { Field } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Badge } from '../shared/notice.js';
import { AccountFields, bodyOf, NEW_ACCOUNT } from './account-form.js';
import { change, withQuery } from './api.js';
import { AccountLink, ListTable, useList } from './list.js';
import { Page } from './page.js';
import { filterBy, navigate, usePlace } from './router.js';
import { useIsAdmin } from './session.js';

/** Milliseconds after a key press until the search begins. */
const PAUSE = 200;

export function Accounts() {
  const { query } = usePlace();
  const search = query.get('search') ?? '';
  const [text, setText] = useState(search);
  const [isNew, setIsNew] = useState(false);
  const isAdmin = useIsAdmin();
  const list = useList(withQuery('/accounts', { search, limit: 100 }));
  useEffect(() => {
    const timer = setTimeout(() => text !== search && filterBy({ search: text }), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const create = html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Create account</button>`;
  return html`<${Page} title="Accounts" actions=${isAdmin && create}>
    <search class="filters">
      <${Field} label="Search by name" type="search" maxlength="100" value=${text} onValue=${setText} />
    </search>
    <${ListTable} list=${list} caption="Accounts" columns=${COLUMNS}
      empty=${search === '' ? 'There is no account yet.' : `No account has “${search}” in its name.`} />
    ${isNew && html`<${CreateAccount} onClose=${() => setIsNew(false)} />`}
  <//>`;
}

/** @type {import('../shared/table.js').Columns<import('./schema.d.ts').Account>} */
const COLUMNS = [
  { name: 'Name', isName: true, cell: ({ id, name }) => html`<${AccountLink} id=${id} name=${name} />` },
  { name: 'Number', isNumber: true, cell: ({ id }) => id },
  { name: 'Plan', cell: ({ plan }) => plan },
  { name: 'Per minute', isNumber: true, cell: ({ limits }) => number(limits.perMinute) },
  { name: 'Per day', isNumber: true, cell: ({ limits }) => number(limits.perDay) },
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
    const { id, name } = await change('POST', '/accounts', bodyOf(typed));
    onClose();
    navigate(`/accounts/${id}`);
    say(`The account ${name} was created. Create its first key here.`);
  }
  return html`<${FormDialog} title="Create account" submit="Create account" onClose=${onClose} onSubmit=${create}>
    <${AccountFields} typed=${typed} onTyped=${setTyped} />
  <//>`;
}
