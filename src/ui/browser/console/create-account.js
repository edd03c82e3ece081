import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../dialog.js';
import { say } from '../status.js';
import { AccountFields, NEW_ACCOUNT, bodyOf } from './account-fields.js';
import { change } from './api.js';
import { navigate } from './router.js';

/** @param {{ onClose: () => void }} props */
export function CreateAccount({ onClose }) {
  const [typed, setTyped] = useState(NEW_ACCOUNT);
  async function create() {
    const { id, name } = await change('POST', '/accounts', bodyOf(typed));
    onClose();
    navigate(`/accounts/${id}`);
    say(`The account ${name} was created. Create its first key here.`);
  }
  return html`<${FormDialog} title="Create account" submit="Create account" onClose=${onClose} onSubmit=${create}>
    <${AccountFields} typed=${typed} onTyped=${setTyped} />
  <//>`;
}
