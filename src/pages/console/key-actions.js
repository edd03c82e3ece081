import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { DEFAULT_GRACE, GraceField } from '../shared/key-fields.js';
import { SecretDialog } from '../shared/secret.js';
import { change } from './api.js';
import { Confirm } from './confirm.js';
import { KeyName } from './links.js';

/** Rotates and revokes a key that is in force. @param {{ its: any, onChanged: () => void }} props */
export function KeyActions({ its, onChanged }) {
  const [open, setOpen] = useState('');
  const dialog = { its, onClose: () => setOpen(''), onChanged };
  if (!['active', 'rotated'].includes(its.state)) return null;
  const name = html`<span class="hidden-text"> key ${its.id}</span>`;
  return html`<div class="row-actions">
    ${
      its.state === 'active' &&
      html`<button type="button" onClick=${() => setOpen('rotate')}>Rotate${name}</button>`
    }
    <button type="button" class="danger" onClick=${() => setOpen('revoke')}>Revoke${name}</button>
    ${open === 'rotate' && html`<${RotateKey} ...${dialog} />`}
    ${open === 'revoke' && html`<${RevokeKey} ...${dialog} />`}
  </div>`;
}

/** @param {{ its: any, onClose: () => void, onChanged: () => void }} props */
function RotateKey({ its, onClose, onChanged }) {
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

/** @param {{ its: any, onClose: () => void, onChanged: () => void }} props */
function RevokeKey({ its, ...dialog }) {
  return html`<${Confirm} title="Revoke key" submit="Revoke" isDangerous request=${['DELETE', `/keys/${its.id}`]}
    done="Key ${its.id} is revoked." ...${dialog}>
    <p><${KeyName} ...${its} /></p>
    <p>Within 5 seconds, every instance refuses this key for good. This cannot be undone.</p>
  <//>`;
}
