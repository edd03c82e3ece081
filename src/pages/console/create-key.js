import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { Field } from '../shared/field.js';
import { ScopesField } from '../shared/key-fields.js';
import { SecretDialog } from '../shared/secret.js';
import { change } from './api.js';
import { DEFAULT_SCOPES, SCOPES } from './terms.js';
import { UtcField, instantOf } from './utc-field.js';

/** @param {{ accountId: string, onClose: () => void, onCreated: () => void }} props */
export function CreateKey({ accountId, onClose, onCreated }) {
  const [label, setLabel] = useState('');
  const [scopes, setScopes] = useState(DEFAULT_SCOPES);
  const [expires, setExpires] = useState('');
  const [issued, setIssued] = useState(/** @type {any} */ (undefined));
  if (issued)
    return html`<${SecretDialog} title="Key ${issued.id}" secret=${issued.key} onClose=${onClose} />`;
  async function create() {
    const expiresAt = instantOf(expires);
    setIssued(
      await change('POST', `/accounts/${accountId}/keys`, {
        scopes,
        ...(label === '' ? {} : { label }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      }),
    );
    onCreated();
  }
  return html`<${FormDialog} title="Create key" submit="Create key" onClose=${onClose} onSubmit=${create}>
    <${Field} label="Label" maxlength="100" autocomplete="off" value=${label} onValue=${setLabel}
      hint="Where the key is used, such as “price board”. Optional." />
    <${ScopesField} scopes=${SCOPES} chosen=${scopes} onChosen=${setScopes} />
    <${UtcField} label="Expires (UTC)" hint="Without a date, the key does not expire." value=${expires} onValue=${setExpires} />
  <//>`;
}
