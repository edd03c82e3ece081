import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../dialog.js';
import { Field } from '../field.js';
import { Notice } from '../notice.js';
import { DEFAULT_GRACE, GraceField, ScopesField } from '../key-fields.js';

/**
 * @typedef {{
 *   api: import('./api.js').AccountApi, scopes: readonly string[], keyOf?: import('./api.js').Key,
 *   onClose: () => void, onDone: (issued: { key: string } | undefined) => void,
 * }} DialogProps `onDone` gets the new key if there is one
 */

const MANAGE = 'keys:manage';

/** @param {DialogProps} props */
export function CreateKey({ api, scopes, onClose, onDone }) {
  const [label, setLabel] = useState('');
  const [expires, setExpires] = useState('');
  const [chosen, setChosen] = useState(() => scopes.filter((scope) => scope !== MANAGE));
  const create = async () =>
    onDone(
      await api.createKey({
        ...(label.trim() === '' ? {} : { label: label.trim() }),
        scopes: chosen,
        ...(expires === '' ? {} : { expiresAt: `${expires}T00:00:00Z` }),
      }),
    );
  return html`<${FormDialog} title="Create a key" submit="Create" onClose=${onClose} onSubmit=${create}>
    <${Field} label="Label" value=${label} onValue=${setLabel} maxlength="100" hint="Where the key is used. Optional." />
    <${ScopesField} scopes=${scopes} chosen=${chosen} onChosen=${setChosen} />
    <${Field} label="Expires on" type="date" value=${expires} onValue=${setExpires} hint="At midnight UTC. Without a date, the key does not expire." />
  <//>`;
}

/** @param {DialogProps} props */
export function RotateKey({ api, keyOf, onClose, onDone }) {
  const [grace, setGrace] = useState(DEFAULT_GRACE);
  const rotate = async () => onDone(await api.rotateKey(keyOf?.id ?? 0, Number(grace)));
  return html`<${FormDialog} title="Rotate ${named(keyOf)}" submit="Rotate" onClose=${onClose} onSubmit=${rotate}>
    <p>This creates a new key with the same settings. Give it to your programs before the old key ends.</p>
    ${
      keyOf &&
      api.isOwn(keyOf) &&
      html`<${Notice} kind="warn" title="This page uses this key">
        <p>From then on, this page uses the new key. Store it: after a reload, the old key opens the page only while it still works.</p>
      <//>`
    }
    <${GraceField} value=${grace} onValue=${setGrace} />
  <//>`;
}

/** @param {DialogProps} props */
export function RevokeKey({ api, keyOf, onClose, onDone }) {
  const revoke = async () => {
    await api.revokeKey(keyOf?.id ?? 0);
    onDone(undefined);
  };
  return html`<${FormDialog} title="Revoke ${named(keyOf)}" submit="Revoke" isDangerous onClose=${onClose} onSubmit=${revoke}>
    <p>Within 5 seconds, the service refuses this key for good. This cannot be undone.</p>
    ${
      keyOf &&
      api.isOwn(keyOf) &&
      html`<${Notice} kind="warn" title="This page uses this key">
        <p>Revoking it locks this page, until you paste another key of the account.</p>
      <//>`
    }
  <//>`;
}

/** @param {import('./api.js').Key | undefined} key */
const named = (key) => key?.label ?? `key ${key?.id}`;
