import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../dialog.js';
import { Field } from '../field.js';
import { SecretDialog } from '../secret.js';
import { change } from './api.js';
import { KeyName } from './links.js';

/** Seconds that the old key still works. */
const GRACES = [
  { value: '0', text: 'no time' },
  { value: '3600', text: '1 hour' },
  { value: '86400', text: '1 day' },
  { value: '604800', text: '7 days' },
  { value: '2592000', text: '30 days' },
];

/** @param {{ its: any, onClose: () => void, onChanged: () => void }} props */
export function RotateKey({ its, onClose, onChanged }) {
  const [grace, setGrace] = useState('86400');
  const [issued, setIssued] = useState(/** @type {any} */ (undefined));
  const done = () => {
    onChanged();
    onClose();
  };
  if (issued)
    return html`<${SecretDialog} title="The new key" secret=${issued.key} onClose=${done}>
      <p>It has the label, scopes and expiry of key ${its.id}.</p>
    <//>`;
  const rotate = async () =>
    setIssued(await change('POST', `/keys/${its.id}/rotate`, { grace: Number(grace) }));
  return html`<${FormDialog} title="Rotate key" submit="Rotate" onClose=${onClose} onSubmit=${rotate}>
    <p><${KeyName} ...${its} /></p>
    <p>This creates a new key with the same settings. Replace the old key in programs before it ends.</p>
    <${Field} label="The old key still works for" value=${grace} onValue=${setGrace} choices=${GRACES} />
  <//>`;
}
