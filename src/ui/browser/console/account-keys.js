import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { withQuery } from './api.js';
import { CreateKey } from './create-key.js';
import { KeyTable } from './key-table.js';
import { useList } from './list.js';
import { Card } from './page.js';
import { useIsAdmin } from './session.js';

/** The keys of an account, to create, rotate and revoke. @param {{ accountId: string }} props */
export function AccountKeys({ accountId }) {
  const list = useList(withQuery('/keys', { accountId, limit: 100 }));
  const [isNew, setIsNew] = useState(false);
  const isAdmin = useIsAdmin();
  const create = html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Create key</button>`;
  return html`<${Card} title="Keys" actions=${isAdmin && create}>
    <${KeyTable} list=${list} caption="Keys of the account" isOfAccount empty="This account has no key yet." />
    ${
      isNew &&
      html`<${CreateKey} accountId=${accountId} onClose=${() => setIsNew(false)} onCreated=${list.refresh} />`
    }
  <//>`;
}
