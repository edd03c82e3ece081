import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../dialog.js';
import { DEFAULT_GRACE, GraceField } from '../key-fields.js';
import { SecretDialog } from '../secret.js';
import { change } from './api.js';
import { KeyName } from './links.js';

/** @param {{ its: any, onClose: () => void, onChanged: () => void }} props */
export function RotateKey({ its, onClose, onChanged }) {
  const [grace, setGrace] = useState(DEFAULT_GRACE);
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
    <${GraceField} value=${grace} onValue=${setGrace} />
  <//>`;
}
