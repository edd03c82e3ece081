import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { DEFAULT_SCOPES, SCOPES } from '../../domain/scope.ts';
import { FormDialog } from '../shared/dialog.js';
import { Time } from '../shared/format.js';
import { DEFAULT_GRACE, Field, GraceField, ScopesField } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Badge, KeyState, Notice, Skeleton } from '../shared/notice.js';
import { Name, Table } from '../shared/table.js';
import { KeyErrorNotice } from './layout.js';

/** @typedef {import('./api.js').Key} Key */

/**
 * The keys of the account, with the buttons that create, rotate and revoke them.
 * @param {{
 *   account: import('./api.js').OpenAccount, keys: import('../shared/poll.js').Polled<Key[] | undefined>,
 *   onIssued: (key: string) => void, onRotated: (key: string) => void,
 * }} props `onIssued` gets each new key, and `onRotated` too when the page's own one was rotated
 */
export function Keys({ account, keys: { data, error, failingSince, refresh }, onIssued, onRotated }) {
  const [open, setOpen] = useState(
    /** @type {{ action: 'create' | 'rotate' | 'revoke', key?: Key } | undefined} */ (undefined),
  );
  const close = () => setOpen(undefined);
  const done = (/** @type {{ key: string } | undefined} */ issued) => {
    close();
    if (issued) onIssued(issued.key);
    if (issued && open?.action === 'rotate' && open.key && account.isOwn(open.key)) onRotated(issued.key);
    if (issued === undefined) say('The key is revoked.');
    refresh();
  };
  const dialog = {
    account,
    scopes: data?.find(account.isOwn)?.scopes ?? SCOPES,
    apiKey: open?.key,
    onClose: close,
    onDone: done,
  };
  return html`<section class="card" aria-label="Keys">
    <div class="row">
      <h2>Keys</h2>
      ${data && html`<button type="button" class="main" onClick=${() => setOpen({ action: 'create' })}>Create key</button>`}
    </div>
    ${error && !data && html`<${KeyErrorNotice} error=${error} failingSince=${failingSince} />`}
    ${data ? html`<${KeyTable} keys=${data} isOwn=${account.isOwn} onAction=${setOpen} />` : !error && html`<${Skeleton} label="The list of keys" />`}
    ${open?.action === 'create' && html`<${CreateKey} ...${dialog} />`}
    ${open?.action === 'rotate' && html`<${RotateKey} ...${dialog} />`}
    ${open?.action === 'revoke' && html`<${RevokeKey} ...${dialog} />`}
  </section>`;
}

/** @param {{ keys: readonly Key[], isOwn: (key: Key) => boolean, onAction: (open: { action: 'rotate' | 'revoke', key: Key }) => void }} props */
export function KeyTable({ keys, isOwn, onAction }) {
  const button = (
    /** @type {'rotate' | 'revoke'} */ action,
    /** @type {string} */ text,
    /** @type {Key} */ key,
  ) =>
    html`<button type="button" class=${action === 'revoke' ? 'danger' : ''} onClick=${() => onAction({ action, key })}>
      ${text}<span class="hidden-text"> ${key.label ?? `key ${key.id}`}</span>
    </button>`;
  /** @type {import('../shared/table.js').Columns<Key>} */
  const columns = [
    {
      name: 'Label',
      isName: true,
      cell: (key) =>
        html`${key.label === undefined ? html`<span class="muted">no label</span> ` : html`<${Name} text=${key.label} />`}${isOwn(key) && html`<${Badge}>this page<//>`}`,
    },
    { name: 'Id', cell: ({ id }) => id },
    { name: 'Ends with', cell: ({ ending }) => ending && html`<code>…${ending}</code>` },
    { name: 'State', cell: ({ state }) => html`<${KeyState} state=${state} />` },
    { name: 'Scopes', cell: ({ scopes }) => scopes.join(' ') },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt ? html`<${Time} at=${lastUsedAt} isRelative />` : 'never'),
    },
    { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    { name: 'Expires', cell: ({ expiresAt }) => (expiresAt ? html`<${Time} at=${expiresAt} />` : 'never') },
    {
      name: '',
      cell: (key) => html`<div class="actions">
        ${key.state === 'active' && button('rotate', 'Rotate', key)}
        ${['active', 'rotated'].includes(key.state) && button('revoke', 'Revoke', key)}
      </div>`,
    },
  ];
  return html`<${Table} caption="Keys of the account" rows=${keys} columns=${columns} />`;
}

/**
 * @typedef {{
 *   account: import('./api.js').OpenAccount, scopes: readonly import('../../../client/src/index.ts').Scope[],
 *   apiKey?: import('./api.js').Key,
 *   onClose: () => void, onDone: (issued: { key: string } | undefined) => void,
 * }} DialogProps `onDone` gets the new key if there is one
 */

/** @param {DialogProps} props */
export function CreateKey({ account, scopes, onClose, onDone }) {
  const [label, setLabel] = useState('');
  const [expires, setExpires] = useState('');
  const [chosen, setChosen] = useState(() => scopes.filter((scope) => DEFAULT_SCOPES.includes(scope)));
  const create = async () =>
    onDone(
      await account.keys.create({
        ...(label.trim() === '' ? {} : { label: label.trim() }),
        scopes: chosen,
        ...(expires === '' ? {} : { expiresAt: `${expires}T00:00:00Z` }),
      }),
    );
  return html`<${FormDialog} title="Create key" submit="Create key" onClose=${onClose} onSubmit=${create}>
    <${Field} label="Label" value=${label} onValue=${setLabel} maxlength="100" hint="Where the key is used. Optional." />
    <${ScopesField} scopes=${scopes} chosen=${chosen} onChosen=${setChosen} />
    <${Field} label="Expires (UTC)" type="date" value=${expires} onValue=${setExpires} hint="At midnight. Without a date, the key does not expire." />
  <//>`;
}

/** @param {DialogProps} props */
function RotateKey({ account, apiKey, onClose, onDone }) {
  const [grace, setGrace] = useState(DEFAULT_GRACE);
  const rotate = async () => onDone(await account.keys.rotate(apiKey?.id ?? 0, { grace: Number(grace) }));
  return html`<${FormDialog} title="Rotate ${named(apiKey)}" submit="Rotate" onClose=${onClose} onSubmit=${rotate}>
    <p>This creates a new key with the same settings. Give it to your programs before the old key ends.</p>
    ${
      apiKey &&
      account.isOwn(apiKey) &&
      html`<${Notice} kind="warn" title="This page uses this key">
        <p>From then on, this page uses the new key. Store it, because the page forgets it with the tab.</p>
      <//>`
    }
    <${GraceField} value=${grace} onValue=${setGrace} />
  <//>`;
}

/** @param {DialogProps} props */
function RevokeKey({ account, apiKey, onClose, onDone }) {
  const revoke = async () => {
    await account.keys.revoke(apiKey?.id ?? 0);
    onDone(undefined);
  };
  return html`<${FormDialog} title="Revoke ${named(apiKey)}" submit="Revoke" isDangerous onClose=${onClose} onSubmit=${revoke}>
    <p>Within 5 seconds, the service refuses this key for good. This cannot be undone.</p>
    ${
      apiKey &&
      account.isOwn(apiKey) &&
      html`<${Notice} kind="warn" title="This page uses this key">
        <p>Revoking it locks this page, until you paste another key of the account.</p>
      <//>`
    }
  <//>`;
}

/** @param {import('./api.js').Key | undefined} key */
const named = (key) => key?.label ?? `key ${key?.id}`;
