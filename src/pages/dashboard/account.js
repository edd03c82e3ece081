import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { SecretDialog } from '../shared/dialog.js';
import { serviceTime } from '../shared/fetch.js';
import { duration } from '../shared/format.js';
import { tabKey } from '../shared/key.js';
import { Skeleton } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { RANGES } from '../shared/usage.js';
import { Keys } from './keys.js';
import { KeyErrorNotice, Layout, MissingScope } from './layout.js';
import { FailedRequests } from './requests.js';
import { Summary } from './summary.js';
import { Deprecations, Usage } from './usage.js';
import { Webhooks } from './webhooks.js';

/** Seconds. Several open pages of an account fit into the requests that its holder has for a day. */
const ACCOUNT_INTERVAL = 60;
/** Seconds. The service writes usage every 5 s, but a chart of a day or more changes more slowly. */
const USAGE_INTERVAL = 300;

/**
 * The page of an account: limits, bans, usage, keys and webhooks.
 * @param {{ account: import('./api.js').OpenAccount, onLeave: () => void, onRotated: (key: string) => void }} props
 */
export function AccountPage({ account, onLeave, onRotated }) {
  const [issued, setIssued] = useState(
    /** @type {{ title: string, secret: string } | undefined} */ (undefined),
  );
  const now = usePoll((signal) => account.read(signal), ACCOUNT_INTERVAL);
  const month = usePoll(
    (signal) => account.readUsage(RANGES.month.query(serviceTime()), false, signal),
    USAGE_INTERVAL,
  );
  const failed = usePoll((signal) => account.readFailed(signal), USAGE_INTERVAL);
  const { data } = now;
  const mayManage = data?.scopes.includes('keys:manage');
  const keys = usePoll(
    async (signal) => (mayManage ? account.readKeys(signal) : undefined),
    USAGE_INTERVAL,
    String(mayManage),
  );
  const hasWebhooks = data?.scopes.includes('webhooks:manage');
  const webhooks = usePoll(
    async (signal) => (hasWebhooks ? account.readWebhooks(signal) : undefined),
    USAGE_INTERVAL,
    String(hasWebhooks),
  );
  // A key that no longer works is of no use after a reload, nor on the reference.
  useEffect(() => {
    if (now.error?.code === 'unauthorized') tabKey.write('');
  }, [now.error]);
  /** Grows with each refresh, for what loads its own data. */
  const [turn, setTurn] = useState(0);
  const refresh = () => {
    setTurn(turn + 1);
    [now, month, failed, keys, webhooks].forEach((poll) => poll.refresh());
  };
  const labels = new Map(keys.data?.map(({ id, label }) => [id, label]));
  /** @type {import('./api.js').NameOf} */
  const nameOf = (id) => (labels.get(id) ? `${labels.get(id)} (key ${id})` : `key ${id}`);
  return html`<${Layout} aside=${html`
    <button type="button" onClick=${refresh}>Refresh</button>
    <button type="button" onClick=${onLeave}>Forget the key</button>`}>
    ${now.error && html`<${KeyErrorNotice} ...${now} />`}
    ${
      now.error?.code !== 'unauthorized' &&
      html`
    ${data ? html`<${Summary} account=${data} pageKey=${keys.data?.find(account.isOwn)} nameOf=${nameOf} />` : !now.error && html`<${Skeleton} label="The account" />`}
    <${Deprecations} rows=${month.data?.operations} isNear />
    <${Usage} account=${account} month=${month} turn=${turn} nameOf=${nameOf} scopes=${data?.scopes} />
    <${Deprecations} rows=${month.data?.operations} />
    <${FailedRequests} failed=${failed} nameOf=${nameOf} />
    ${
      mayManage === false
        ? html`<${MissingScope} title="Keys" scope="keys:manage" uses="list, create, rotate and revoke keys" />`
        : html`<${Keys} account=${account} keys=${keys} onRotated=${onRotated}
            onIssued=${(/** @type {string} */ secret) => setIssued({ title: 'The new key', secret })} />`
    }
    ${
      hasWebhooks === false
        ? html`<${MissingScope} title="Webhooks" scope="webhooks:manage" uses="add, test and change webhooks" />`
        : html`<${Webhooks} account=${account} webhooks=${webhooks} scopes=${data?.scopes ?? []}
            onSecret=${(/** @type {string} */ secret) => setIssued({ title: 'The secret of the webhook', secret })} />`
    }
    <p class="muted">
      The requests of this page take nothing from your plan, and the charts leave them out unless you ask for them. The limits shown are up to ${duration(ACCOUNT_INTERVAL)} old, and the
      usage is up to ${duration(USAGE_INTERVAL)} old. A hidden page sends no requests.
    </p>
    `
    }
    ${issued && html`<${SecretDialog} ...${issued} onClose=${() => setIssued(undefined)} />`}
  <//>`;
}
