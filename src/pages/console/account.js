import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Chart, Ranking } from '../shared/chart.js';
import { serviceTime } from '../shared/fetch.js';
import { Day, Time } from '../shared/format.js';
import { QuotaWindow } from '../shared/meter.js';
import { Badge } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { nameOperation, outcomes, RANGES, totalOf, UsageHead } from '../shared/usage.js';
import { ChangeAccount, SuspendAccount } from './account-form.js';
import { get, getPages, withQuery } from './api.js';
import { BanTable } from './bans.js';
import { FailedRequestTable } from './failed-requests.js';
import { CreateKey, KeyTable } from './keys.js';
import { useCountedList } from './list.js';
import { Card, Loaded, Page } from './page.js';
import { useIsAdmin } from './session.js';
import { Webhooks } from './webhooks.js';

/** @typedef {import('./schema.d.ts').AccountDetails} AccountDetails */

/** Seconds between two polls of the windows. */
const LIVE = 5;

/** @param {{ id: string }} props */
export function Account({ id }) {
  const poll = usePoll(
    /** @returns {Promise<AccountDetails>} */ (signal) => get(`/accounts/${id}`, signal),
    LIVE,
  );
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
    <${Loaded} poll=${poll} label="The account">${() =>
      account &&
      html`
      <${Facts} account=${account} />
      <div class="columns">
        <${Windows} account=${account} />
      </div>
      <${AccountKeys} accountId=${id} />
      <${Webhooks} title="Webhooks" filters=${{ accountId: id }} empty="This account has no webhook yet." />
      <${AccountUsage} accountId=${id} />
      <${Card} title="Bans">
        <${BanTable} bans=${account.bans} onLifted=${poll.refresh} empty="No key of this account is banned." />
      <//>
      <${Card} title="Latest refused and failed requests"
        actions=${html`<a href="/failed-requests?accountId=${id}">All failed requests</a><a href="/audit?accountId=${id}">Audit log</a>`}>
        <${FailedRequestTable} filters=${{ accountId: id, limit: 10 }} isOfAccount />
      <//>
    `}<//>
    ${open === 'change' && html`<${ChangeAccount} ...${dialog} />`}
    ${open === 'suspend' && html`<${SuspendAccount} ...${dialog} />`}
  <//>`;
}

/** @param {{ account: AccountDetails }} props */
function Badges({ account: { id, plan, suspendedAt } }) {
  return html`<${Badge}>${plan}<//>
    ${suspendedAt && html`<${Badge} kind="bad">suspended<//>`}<span class="muted">account ${id}</span>
    <a href="/orders?accountId=${id}">Orders</a>`;
}

/** What operators know of an account besides its limits. @param {{ account: AccountDetails }} props */
function Facts({ account: { createdAt, lastUsedAt, note } }) {
  return html`<section class="card" aria-label="About the account">
    <dl class="facts">
      <div><dt>Created</dt><dd><${Day} at=${createdAt} /></dd></div>
      <div><dt>Last used</dt><dd>${lastUsedAt ? html`<${Time} at=${lastUsedAt} isRelative />` : 'never'}</dd></div>
      ${note && html`<div class="note"><dt>Note</dt><dd>${note}</dd></div>`}
    </dl>
  </section>`;
}

/** Both windows of the quota, now. @param {{ account: AccountDetails }} props */
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
  const list = useCountedList('/keys', 'key', { fixed: { accountId } });
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

/** Seconds. The service writes usage every 5 seconds. */
const REFRESH = 30;

/** The requests of an account over time, by operation and by key. @param {{ accountId: string }} props */
function AccountUsage({ accountId }) {
  const [range, setRange] = useState(RANGES.day);
  const { data, ...state } = usePoll(load, range.isOver ? Number.POSITIVE_INFINITY : REFRESH, range.about);
  const file = `account-${accountId}-${range.about}`;

  /** @param {AbortSignal} signal */
  async function load(signal) {
    const { starts, query, interval } = range;
    const now = serviceTime();
    const ask = async (/** @type {string} */ by) =>
      (await getPages(withQuery('/usage', { accountId, ...query(now), by }), Infinity, signal)).rows;
    const [rows, operations, keys] = await Promise.all([ask('interval'), ask('operation'), ask('key')]);
    return {
      plotted: outcomes(rows, starts(now), interval),
      operations: operations.map((row) => ({ label: nameOperation(row.operation), value: totalOf(row) })),
      keys: keys.map((row) => ({ label: keyName(row), value: totalOf(row) })),
    };
  }
  return html`
    <${UsageHead} range=${range} onRange=${setRange} />
    <${Chart} title="Requests by outcome" file="${file}-by-outcome" plotted=${data?.plotted} ...${state} />
    <div class="columns">
      <${Ranking} title="Requests by operation" file="${file}-by-operation" name="Operation" unit="Requests"
        values=${data?.operations} ...${state} />
      <${Ranking} title="Requests by key" file="${file}-by-key" name="Key" unit="Requests"
        values=${data?.keys} ...${state} />
    </div>`;
}

/** @param {{ keyId: number, label?: string }} row */
const keyName = ({ keyId, label }) => (label === undefined ? `key ${keyId}` : `${label} (key ${keyId})`);
