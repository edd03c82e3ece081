import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ROLES } from '../../domain/operator.ts';
import { FormDialog, SecretDialog } from '../shared/dialog.js';
import { Time } from '../shared/format.js';
import { Field, instantOf, UtcField } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Badge, Notice } from '../shared/notice.js';
import { Name } from '../shared/table.js';
import { change } from './api.js';
import { ListTable, useList } from './list.js';
import { Card, Confirm, Page } from './page.js';
import { PasskeysOfAll } from './passkeys.js';
import { useIsAdmin, useIsMe } from './session.js';
import { asChoice } from './fields.js';

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
  /** @type {import('../shared/table.js').Columns<import('./schema.d.ts').Operator>} */
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
    {
      name: 'Last sign-in',
      cell: ({ lastSignInAt }) => (lastSignInAt ? html`<${Time} at=${lastSignInAt} isRelative />` : 'never'),
    },
    isAdmin && {
      name: '',
      cell: (operator) => html`<${OperatorActions} operator=${operator} onChanged=${refresh} />`,
    },
  ];
  return html`<${Page} title="Operators" actions=${isAdmin && create}
    intro="A viewer reads. An admin also changes.">
    <${ListTable} list=${list} caption="Operators" columns=${columns} />
    ${isAdmin && html`<${PasskeysOfAll} /><${Tokens} key=${issued} />`}
    ${isNew && html`<${CreateOperator} onClose=${() => setIsNew(false)} onCreated=${refresh} />`}
  <//>`;
}

/** @param {{ onClose: () => void, onCreated: () => void }} props */
function CreateOperator({ onClose, onCreated }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('viewer');
  async function create() {
    await change('POST', '/operators', { name, role });
    say(`The operator ${name} was created. Create a sign-in link for it here.`);
    onCreated();
    onClose();
  }
  return html`<${FormDialog} title="Create operator" submit="Create operator" onClose=${onClose} onSubmit=${create}>
    <${Field} label="Name" required maxlength="100" autocomplete="off" value=${name} onValue=${setName} />
    <${Field} label="Role" value=${role} onValue=${setRole} choices=${ROLES.map(asChoice)}
      hint="A viewer reads. An admin also changes." />
  <//>`;
}

/** @typedef {{ operator: import('./schema.d.ts').Operator, onClose: () => void, onChanged: () => void }} OperatorProps */

/** Sign-in links, tokens and removal of an operator. @param {{ operator: import('./schema.d.ts').Operator, onChanged: () => void }} props */
function OperatorActions({ operator, onChanged }) {
  const [open, setOpen] = useState('');
  const dialog = { operator, onClose: () => setOpen(''), onChanged };
  const name = html`<span class="hidden-text"> ${operator.name}</span>`;
  return html`<div class="row-actions">
    <button type="button" onClick=${() => setOpen('link')}>Create sign-in link<span class="hidden-text"> for</span>${name}</button>
    <button type="button" onClick=${() => setOpen('token')}>Create token<span class="hidden-text"> for</span>${name}</button>
    <button type="button" class="danger" onClick=${() => setOpen('remove')}>Remove${name}</button>
    ${open === 'link' && html`<${CreateLink} ...${dialog} />`}
    ${open === 'token' && html`<${CreateToken} ...${dialog} />`}
    ${open === 'remove' && html`<${RemoveOperator} ...${dialog} />`}
  </div>`;
}

/** @param {OperatorProps} props */
function CreateLink({ operator: { id, name }, onClose }) {
  const [issued, setIssued] = useState(
    /** @type {import('./schema.d.ts').SignInLink | undefined} */ (undefined),
  );
  if (issued)
    return html`<${SecretDialog} title="Sign-in link" secret=${issued.link} onClose=${onClose}>
      <p>It signs in as <b>${name}</b>, once before <${Time} at=${issued.expiresAt} />.</p>
    <//>`;
  const create = async () => setIssued(await change('POST', `/operators/${id}/links`));
  return html`<${FormDialog} title="Create sign-in link" submit="Create sign-in link" onClose=${onClose} onSubmit=${create}>
    <p>The link signs in as <b>${name}</b>, once within 10 minutes. Give it only to this operator.</p>
  <//>`;
}

/** @param {OperatorProps} props */
function CreateToken({ operator: { id, name }, onClose, onChanged }) {
  const [expires, setExpires] = useState('');
  const [issued, setIssued] = useState(
    /** @type {import('./schema.d.ts').IssuedToken | undefined} */ (undefined),
  );
  const done = () => {
    onChanged();
    onClose();
  };
  if (issued)
    return html`<${SecretDialog} title="Token ${issued.id}" secret=${issued.token} onClose=${done} />`;
  async function create() {
    const expiresAt = instantOf(expires);
    setIssued(await change('POST', `/operators/${id}/tokens`, expiresAt === undefined ? {} : { expiresAt }));
  }
  return html`<${FormDialog} title="Create token" submit="Create token" onClose=${onClose} onSubmit=${create}>
    <p>A program with this token may do everything that <b>${name}</b> may do.</p>
    <${UtcField} label="Expires (UTC)" hint="Without a date, the token ends with its operator." value=${expires} onValue=${setExpires} />
  <//>`;
}

/** @param {OperatorProps} props */
function RemoveOperator({ operator: { id, name }, ...dialog }) {
  const isMe = useIsMe();
  return html`<${Confirm} title="Remove operator" submit="Remove" isDangerous request=${['DELETE', `/operators/${id}`]}
    done="${name} is removed." ...${dialog}>
    <p>The links, passkeys, sessions and tokens of <b>${name}</b> end at once, on every instance.</p>
    ${
      isMe(name) &&
      html`<${Notice} kind="warn" title="This is you">
        <p>You are signed out at once, and cannot sign in again until another admin or a command adds you.</p>
      <//>`
    }
  <//>`;
}

/** @type {import('../shared/table.js').Columns<import('./schema.d.ts').Token>} */
const COLUMNS = [
  { name: 'Id', cell: ({ id }) => id },
  { name: 'Operator', isName: true, cell: ({ operator }) => html`<${Name} text=${operator} />` },
  { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  {
    name: 'Expires',
    cell: ({ expiresAt }) => (expiresAt ? html`<${Time} at=${expiresAt} />` : 'with its operator'),
  },
];

/** The tokens of programs, without the tokens themselves. */
function Tokens() {
  const list = useList('/tokens?limit=100', REFRESH);
  const [ending, setEnding] = useState(/** @type {import('./schema.d.ts').Token | undefined} */ (undefined));
  const button = (/** @type {import('./schema.d.ts').Token} */ token) =>
    html`<div class="row-actions">
      <button type="button" class="danger" onClick=${() => setEnding(token)}>Revoke<span class="hidden-text"> token ${token.id}</span></button>
    </div>`;
  const columns = [...COLUMNS, { name: '', cell: button }];
  return html`<${Card} title="Tokens">
    <${ListTable} list=${list} caption="Tokens of programs" columns=${columns} empty="No program has a token." />
    ${
      ending &&
      html`<${Confirm} title="Revoke token ${ending.id}" submit="Revoke" isDangerous
      request=${['DELETE', `/tokens/${ending.id}`]} done="Token ${ending.id} no longer works."
      onChanged=${list.refresh} onClose=${() => setEnding(undefined)}>
      <p>Every instance refuses this token at once. This cannot be undone.</p>
    <//>`
    }
  <//>`;
}
