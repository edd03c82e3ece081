import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../dialog.js';
import { Notice } from '../notice.js';
import { SecretDialog } from '../secret.js';
import { Time } from '../time.js';
import { change } from './api.js';
import { Confirm } from './confirm.js';
import { useIsMe } from './session.js';
import { UtcField, instantOf } from './utc-field.js';

/** @typedef {{ operator: any, onClose: () => void, onChanged: () => void }} OperatorProps */

/** Sign-in links, tokens and removal of an operator. @param {{ operator: any, onChanged: () => void }} props */
export function OperatorActions({ operator, onChanged }) {
  const [open, setOpen] = useState('');
  const dialog = { operator, onClose: () => setOpen(''), onChanged };
  const name = html`<span class="hidden-text"> ${operator.name}</span>`;
  return html`<div class="row-actions">
    <button type="button" onClick=${() => setOpen('link')}>Sign-in link<span class="hidden-text"> for</span>${name}</button>
    <button type="button" onClick=${() => setOpen('token')}>Token<span class="hidden-text"> for</span>${name}</button>
    <button type="button" class="danger" onClick=${() => setOpen('remove')}>Remove${name}</button>
    ${open === 'link' && html`<${CreateLink} ...${dialog} />`}
    ${open === 'token' && html`<${CreateToken} ...${dialog} />`}
    ${open === 'remove' && html`<${RemoveOperator} ...${dialog} />`}
  </div>`;
}

/** @param {OperatorProps} props */
function CreateLink({ operator: { id, name }, onClose }) {
  const [issued, setIssued] = useState(/** @type {any} */ (undefined));
  if (issued)
    return html`<${SecretDialog} title="Sign-in link" secret=${issued.link} onClose=${onClose}>
      <p>It signs in as <b>${name}</b>, once before <${Time} at=${issued.expiresAt} />.</p>
    <//>`;
  const create = async () => setIssued(await change('POST', `/operators/${id}/links`));
  return html`<${FormDialog} title="Make a sign-in link" submit="Make link" onClose=${onClose} onSubmit=${create}>
    <p>The link signs in as <b>${name}</b>, once within 10 minutes. Give it only to this operator.</p>
  <//>`;
}

/** @param {OperatorProps} props */
function CreateToken({ operator: { id, name }, onClose, onChanged }) {
  const [expires, setExpires] = useState('');
  const [issued, setIssued] = useState(/** @type {any} */ (undefined));
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
  return html`<${FormDialog} title="Create a token" submit="Create token" onClose=${onClose} onSubmit=${create}>
    <p>A program with this token may do everything that <b>${name}</b> may do.</p>
    <${UtcField} label="Expires (UTC)" hint="Without a date, the token ends with its operator." value=${expires} onValue=${setExpires} />
  <//>`;
}

/** @param {OperatorProps} props */
function RemoveOperator({ operator: { id, name }, ...dialog }) {
  const isMe = useIsMe();
  return html`<${Confirm} title="Remove operator" submit="Remove" isDangerous request=${['DELETE', `/operators/${id}`]}
    done="${name} is removed." ...${dialog}>
    <p>The links, sessions and tokens of <b>${name}</b> end at once, on every instance.</p>
    ${
      isMe(name) &&
      html`<${Notice} kind="warn" title="This is you">
        <p>You are signed out at once, and cannot sign in again until another admin or a command adds you.</p>
      <//>`
    }
  <//>`;
}
