import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Notice, Skeleton } from '../notice.js';
import { say } from '../status.js';
import { KeyFault } from './key-fault.js';
import { KeyTable } from './key-table.js';
import { CreateKey, RevokeKey, RotateKey } from './key-dialogs.js';

/** @typedef {import('./api.js').Key} Key */

/**
 * The keys of the account, with the buttons that create, rotate and revoke them.
 * @param {{
 *   api: import('./api.js').AccountApi, keys: import('../poll.js').Polled<Key[]>, scopes: readonly string[] | undefined,
 *   onIssued: (key: string) => void, onRotated: (key: string) => void,
 * }} props `onIssued` gets each new key, and `onRotated` too when the page's own one was rotated
 */
export function Keys({ api, keys: { data, error, failingSince, refresh }, scopes, onIssued, onRotated }) {
  const [open, setOpen] = useState(
    /** @type {{ action: 'create' | 'rotate' | 'revoke', key?: Key } | undefined} */ (undefined),
  );
  const close = () => setOpen(undefined);
  const done = (/** @type {{ key: string } | undefined} */ its) => {
    close();
    if (its) onIssued(its.key);
    if (its && open?.action === 'rotate' && open.key && api.isOwn(open.key)) onRotated(its.key);
    if (its === undefined) say('The key is revoked.');
    refresh();
  };
  const dialog = {
    api,
    scopes: data?.find(api.isOwn)?.scopes ?? scopes ?? [],
    keyOf: open?.key,
    onClose: close,
    onDone: done,
  };
  return html`<section class="card" aria-label="Keys">
    <div class="row">
      <h2>Keys</h2>
      ${data && scopes && html`<button type="button" class="main" onClick=${() => setOpen({ action: 'create' })}>Create a key</button>`}
    </div>
    ${
      error?.code === 'insufficient_scope'
        ? html`<${Notice} title="This key cannot manage keys"><p>To list, create, rotate and revoke keys here, use a key with the scope <code>keys:manage</code>.</p><//>`
        : error && !data && html`<${KeyFault} error=${error} failingSince=${failingSince} />`
    }
    ${data ? html`<${KeyTable} keys=${data} isOwn=${api.isOwn} onAction=${setOpen} />` : !error && html`<${Skeleton} label="The list of keys" />`}
    ${open?.action === 'create' && html`<${CreateKey} ...${dialog} />`}
    ${open?.action === 'rotate' && html`<${RotateKey} ...${dialog} />`}
    ${open?.action === 'revoke' && html`<${RevokeKey} ...${dialog} />`}
  </section>`;
}
