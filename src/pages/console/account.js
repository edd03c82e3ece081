import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { serviceTime } from '../shared/fetch.js';
import { QuotaWindow } from '../shared/meter.js';
import { Badge } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { AccountUsage } from './account-usage.js';
import { get, withQuery } from './api.js';
import { BanTable } from './ban-table.js';
import { ChangeAccount } from './change-account.js';
import { CreateKey } from './create-key.js';
import { FaultTable } from './fault-table.js';
import { KeyTable } from './key-table.js';
import { useList } from './list.js';
import { Card, Loaded, Page } from './page.js';
import { useIsAdmin } from './session.js';
import { SuspendAccount } from './suspend-account.js';

/** Seconds between two polls of the windows. */
const LIVE = 5;

/** @param {{ id: string }} props */
export function Account({ id }) {
  const poll = usePoll((signal) => get(`/accounts/${id}`, signal), LIVE);
  const account = poll.data;
  const isAdmin = useIsAdmin();
  const [open, setOpen] = useState('');
  const dialog = { account, onClose: () => setOpen(''), onChanged: poll.refresh };
  const actions = html`
    <button type="button" onClick=${() => setOpen('change')}>Change</button>
    <button type="button" class=${account?.suspendedAt ? '' : 'danger'} onClick=${() => setOpen('suspend')}>
      ${account?.suspendedAt ? 'Resume' : 'Suspend'}
    </button>`;
  return html`<${Page} title=${account?.name ?? `Account ${id}`} badges=${account && html`<${Badges} account=${account} />`}
    actions=${isAdmin && account && actions}>
    <${Loaded} poll=${poll} label="The account">${() => html`
      <div class="columns">
        <${Windows} account=${account} />
      </div>
      <${AccountKeys} accountId=${id} />
      <${AccountUsage} accountId=${id} />
      <${Card} title="Bans in force">
        <${BanTable} bans=${account.bans} onLifted=${poll.refresh} empty="No key of this account is banned." />
      <//>
      <${Card} title="Latest refused and failed requests"
        actions=${html`<a href="/faults?accountId=${id}">All faults</a><a href="/audit?accountId=${id}">Audit log</a>`}>
        <${FaultTable} filters=${{ accountId: id, limit: 10 }} isOfAccount />
      <//>
    `}<//>
    ${open === 'change' && html`<${ChangeAccount} ...${dialog} />`}
    ${open === 'suspend' && html`<${SuspendAccount} ...${dialog} />`}
  <//>`;
}

/** @param {{ account: any }} props */
function Badges({ account: { id, plan, suspendedAt } }) {
  return html`<${Badge}>${plan}<//>
    ${suspendedAt && html`<${Badge} kind="bad">suspended<//>`}<span class="muted">account ${id}</span>`;
}

/** Both windows of the quota, now. @param {{ account: any }} props */
function Windows({ account: { minute, day } }) {
  const now = serviceTime();
  return html`
    <section class="card" aria-label="Requests this minute">
      <${QuotaWindow} name="This minute" now=${now} ...${minute} />
    </section>
    <section class="card" aria-label="Requests today">
      <${QuotaWindow} name="Today" now=${now} ...${day} />
    </section>`;
}

/** The keys of an account, to create, rotate and revoke. @param {{ accountId: string }} props */
function AccountKeys({ accountId }) {
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
