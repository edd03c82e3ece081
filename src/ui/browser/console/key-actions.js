import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Confirm } from './confirm.js';
import { KeyName } from './links.js';
import { RotateKey } from './rotate-key.js';

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
function RevokeKey({ its, ...dialog }) {
  return html`<${Confirm} title="Revoke key" submit="Revoke" isDangerous request=${['DELETE', `/keys/${its.id}`]}
    done="Key ${its.id} is revoked." ...${dialog}>
    <p><${KeyName} ...${its} /></p>
    <p>Within 5 seconds, every instance refuses this key for good. This cannot be undone.</p>
  <//>`;
}
