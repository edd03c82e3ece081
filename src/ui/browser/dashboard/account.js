import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { serviceTime } from '../fetch.js';
import { duration } from '../format.js';
import { Skeleton } from '../notice.js';
import { usePoll } from '../poll.js';
import { SecretDialog } from '../secret.js';
import { RANGES } from '../usage.js';
import { description } from './api.js';
import { DeprecationNotices } from './deprecations.js';
import { KeyFault } from './key-fault.js';
import { Keys } from './keys.js';
import { Layout } from './layout.js';
import { Summary } from './summary.js';
import { Usage } from './usage.js';

/** Seconds. Several open pages of an account fit into the requests that its holder has for a day. */
const ACCOUNT_INTERVAL = 60;
/** Seconds. The service writes usage every 5 s, but a chart of a day or more changes more slowly. */
const USAGE_INTERVAL = 300;
/** Seconds. The description stays the same while the service runs. */
const DESCRIPTION_INTERVAL = 86_400;

/**
 * The page of an account: limits, bans, usage and keys.
 * @param {{ api: import('./api.js').AccountApi, onLeave: () => void, onRotated: (key: string) => void }} props
 */
export function AccountPage({ api, onLeave, onRotated }) {
  const [issued, setIssued] = useState(/** @type {string | undefined} */ (undefined));
  const account = usePoll((signal) => api.account(signal), ACCOUNT_INTERVAL);
  const month = usePoll((signal) => api.usage(RANGES.month.query(serviceTime()), signal), USAGE_INTERVAL);
  const described = usePoll(description, DESCRIPTION_INTERVAL);
  const keys = usePoll((signal) => api.keys(signal), USAGE_INTERVAL);
  const refresh = () => [account, month, keys].forEach((its) => its.refresh());
  const { data } = account;
  const labels = new Map(keys.data?.map(({ id, label }) => [id, label]));
  const nameOf = (/** @type {number} */ id) =>
    labels.get(id) ? `${labels.get(id)} (key ${id})` : `Key ${id}`;
  return html`<${Layout} aside=${html`
    <button type="button" onClick=${refresh}>Refresh</button>
    <button type="button" onClick=${onLeave}>Forget the key</button>`}>
    ${account.error && html`<${KeyFault} ...${account} />`}
    ${
      account.error?.code !== 'unauthorized' &&
      html`
    ${data ? html`<${Summary} account=${data} nameOf=${nameOf} />` : !account.error && html`<${Skeleton} label="The account" />`}
    <${DeprecationNotices} deprecated=${described.data?.deprecated} rows=${month.data?.operations} />
    <${Usage} api=${api} month=${month} nameOf=${nameOf} />
    <${Keys} api=${api} keys=${keys} scopes=${described.data?.scopes} onIssued=${setIssued}
      onRotated=${onRotated} />
    <p class="muted">
      The requests of this page take nothing from your plan. The limits shown are up to ${duration(ACCOUNT_INTERVAL)} old, and the
      usage is up to ${duration(USAGE_INTERVAL)} old. A hidden page sends no requests.
    </p>
    `
    }
    ${issued && html`<${SecretDialog} title="The new key" secret=${issued} onClose=${() => setIssued(undefined)} />`}
  <//>`;
}
