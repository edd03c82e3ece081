import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../dialog.js';
import { Field } from '../field.js';
import { Badge } from '../notice.js';
import { say } from '../status.js';
import { Name } from '../table.js';
import { Time } from '../time.js';
import { change } from './api.js';
import { ListTable, useList } from './list.js';
import { OperatorActions } from './operator-actions.js';
import { Page } from './page.js';
import { useIsAdmin, useIsMe } from './session.js';
import { ROLES, asChoice } from './terms.js';
import { Tokens } from './tokens.js';

/** Seconds between two polls. */
const REFRESH = 60;

export function Operators() {
  const list = useList('/operators?limit=100', REFRESH);
  const isAdmin = useIsAdmin();
  const isMe = useIsMe();
  const [isNew, setIsNew] = useState(false);
  const [issued, setIssued] = useState(0);
  const create = html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Create operator</button>`;
  const refresh = () => {
    list.refresh();
    setIssued(issued + 1);
  };
  /** @type {import('../table.js').Columns} */
  const columns = [
    {
      name: 'Name',
      isName: true,
      cell: ({ name }) => html`<${Name} text=${name} />${isMe(name) && html` <${Badge}>you<//>`}`,
    },
    {
      name: 'Role',
      cell: ({ role }) => html`<${Badge} kind=${role === 'admin' ? 'warn' : undefined}>${role}<//>`,
    },
    { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    isAdmin && {
      name: '',
      cell: (its) => html`<${OperatorActions} operator=${its} onChanged=${refresh} />`,
    },
  ];
  return html`<${Page} title="Operators" actions=${isAdmin && create}
    intro="A viewer reads. An admin also changes.">
    <${ListTable} list=${list} caption="Operators" columns=${columns} />
    ${isAdmin && html`<${Tokens} key=${issued} />`}
    ${isNew && html`<${CreateOperator} onClose=${() => setIsNew(false)} onCreated=${refresh} />`}
  <//>`;
}

/** @param {{ onClose: () => void, onCreated: () => void }} props */
function CreateOperator({ onClose, onCreated }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('viewer');
  async function create() {
    await change('POST', '/operators', { name, role });
    say(`The operator ${name} was created. Make a sign-in link for it here.`);
    onCreated();
    onClose();
  }
  return html`<${FormDialog} title="Create operator" submit="Create operator" onClose=${onClose} onSubmit=${create}>
    <${Field} label="Name" required maxlength="100" autocomplete="off" value=${name} onValue=${setName} />
    <${Field} label="Role" value=${role} onValue=${setRole} choices=${ROLES.map(asChoice)}
      hint="A viewer reads. An admin also changes." />
  <//>`;
}
