import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { withQuery } from './api.js';
import { IssueKey } from './issue-key.js';
import { KeyTable } from './key-table.js';
import { useList } from './list.js';
import { Card } from './page.js';
import { useIsAdmin } from './session.js';

/** The keys of an account, to issue, rotate and revoke. @param {{ accountId: string }} props */
export function AccountKeys({ accountId }) {
  const list = useList(withQuery('/keys', { accountId, limit: 100 }));
  const [isNew, setIsNew] = useState(false);
  const isAdmin = useIsAdmin();
  const issue = html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Issue key</button>`;
  return html`<${Card} title="Keys" actions=${isAdmin && issue}>
    <${KeyTable} list=${list} caption="Keys of the account" isOfAccount empty="This account has no key yet." />
    ${
      isNew &&
      html`<${IssueKey} accountId=${accountId} onClose=${() => setIsNew(false)} onIssued=${list.refresh} />`
    }
  <//>`;
}
