import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { Time } from '../shared/format.js';
import { Field } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Notice } from '../shared/notice.js';
import { Name } from '../shared/table.js';
import { change, withQuery } from './api.js';
import { ListTable, useList } from './list.js';
import { Card, Confirm, Page } from './page.js';
import { useSession } from './session.js';
import { makePasskey, whyNoPasskeys } from './webauthn.js';

/** @typedef {import('./schema.d.ts').Passkey} Passkey */

/** Seconds between two polls. */
const REFRESH = 60;

const INTRO = 'A passkey signs you in with your finger, face or PIN instead of a link.';
const NONE = 'You have no passkey yet. Add one, and you need no link the next time.';

/** @type {import('../shared/table.js').Column<Passkey>} */
const NAME = { name: 'Passkey', isName: true, cell: ({ name }) => html`<${Name} text=${name} />` };

/** @type {import('../shared/table.js').Columns<Passkey>} */
const TIMES = [
  { name: 'Added', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  {
    name: 'Last sign-in',
    cell: ({ lastUsedAt }) => (lastUsedAt ? html`<${Time} at=${lastUsedAt} />` : 'never'),
  },
];

/** The passkeys of the operator who is signed in. */
export function Passkeys() {
  const { me } = useSession();
  const list = useList(withQuery('/passkeys', { operatorId: me?.id, limit: 100 }), REFRESH);
  const [isNew, setIsNew] = useState(false);
  const reason = whyNoPasskeys();
  const add =
    reason === undefined &&
    html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Add passkey</button>`;
  const columns = [NAME, ...TIMES, { name: '', cell: toActions(list.refresh, true) }];
  return html`<${Page} title="Your passkeys" actions=${add} intro=${INTRO}>
    ${reason && html`<${Notice} kind="warn" title="You cannot add a passkey here"><p>${reason}</p><//>`}
    <${ListTable} list=${list} caption="Your passkeys" columns=${columns} empty=${NONE} />
    ${isNew && html`<${AddPasskey} onClose=${() => setIsNew(false)} onChanged=${list.refresh} />`}
  <//>`;
}

/** The passkeys of all operators, for an admin. */
export function PasskeysOfAll() {
  const list = useList('/passkeys?limit=100', REFRESH);
  const columns = [
    NAME,
    {
      name: 'Operator',
      cell: (/** @type {Passkey} */ { operator }) => html`<${Name} text=${operator} />`,
    },
    ...TIMES,
    { name: '', cell: toActions(list.refresh, false) },
  ];
  return html`<${Card} title="Passkeys">
    <${ListTable} list=${list} caption="Passkeys of all operators" columns=${columns} empty="No operator has a passkey." />
  <//>`;
}

/** @param {() => void} onChanged @param {boolean} isMine */
const toActions = (onChanged, isMine) => (/** @type {Passkey} */ passkey) =>
  html`<${PasskeyActions} passkey=${passkey} isMine=${isMine} onChanged=${onChanged} />`;

/** @typedef {{ passkey: Passkey, onClose: () => void, onChanged: () => void }} PasskeyProps */

/** @param {{ passkey: Passkey, isMine: boolean, onChanged: () => void }} props */
function PasskeyActions({ passkey, isMine, onChanged }) {
  const [open, setOpen] = useState('');
  const dialog = { passkey, onClose: () => setOpen(''), onChanged };
  const name = html`<span class="hidden-text"> ${passkey.name}</span>`;
  return html`<div class="row-actions">
    ${isMine && html`<button type="button" onClick=${() => setOpen('rename')}>Rename${name}</button>`}
    <button type="button" class="danger" onClick=${() => setOpen('remove')}>Remove${name}</button>
    ${open === 'rename' && html`<${RenamePasskey} ...${dialog} />`}
    ${open === 'remove' && html`<${RemovePasskey} ...${dialog} />`}
  </div>`;
}

/** @param {{ value: string, onValue: (value: string) => void }} props */
function NameField(props) {
  return html`<${Field} label="Name" required maxlength="100" autocomplete="off"
    hint="What it is on, such as laptop, phone or security key." ...${props} />`;
}

/** @param {{ onClose: () => void, onChanged: () => void }} props */
function AddPasskey({ onClose, onChanged }) {
  const [name, setName] = useState('');
  async function add() {
    const credential = await makePasskey(await change('POST', '/passkeys/challenge'));
    await change('POST', '/passkeys', { name: name.trim(), credential });
    say(`The passkey ${name} was added. Sign in with it the next time.`);
    onChanged();
    onClose();
  }
  return html`<${FormDialog} title="Add passkey" submit="Continue" onClose=${onClose} onSubmit=${add}>
    <${NameField} value=${name} onValue=${setName} />
    <p class="muted">The browser then asks where to keep it, and for your finger, face or PIN.</p>
  <//>`;
}

/** @param {PasskeyProps} props */
function RenamePasskey({ passkey: { id, name: before }, onClose, onChanged }) {
  const [name, setName] = useState(before);
  async function rename() {
    await change('PATCH', `/passkeys/${id}`, { name });
    say(`The passkey is called ${name} now.`);
    onChanged();
    onClose();
  }
  return html`<${FormDialog} title="Rename passkey" submit="Rename" onClose=${onClose} onSubmit=${rename}>
    <${NameField} value=${name} onValue=${setName} />
  <//>`;
}

/** @param {PasskeyProps} props */
function RemovePasskey({ passkey: { id, name, operator }, ...dialog }) {
  return html`<${Confirm} title="Remove passkey" submit="Remove" isDangerous request=${['DELETE', `/passkeys/${id}`]}
    done="The passkey ${name} no longer signs in." ...${dialog}>
    <p>
      The passkey <b>${name}</b> of <b>${operator}</b> no longer signs in, and the sessions that began with it end at once. Remove it
      from the device or password manager, too.
    </p>
  <//>`;
}
