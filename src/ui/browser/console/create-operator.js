import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../dialog.js';
import { Field } from '../field.js';
import { say } from '../status.js';
import { change } from './api.js';
import { ROLES, asChoice } from './terms.js';

/** @param {{ onClose: () => void, onCreated: () => void }} props */
export function CreateOperator({ onClose, onCreated }) {
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
