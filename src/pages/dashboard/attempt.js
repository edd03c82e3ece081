import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { PetStoreError } from '../../../client/src/index.ts';
import { Dialog } from '../shared/dialog.js';
import { Badge, Skeleton } from '../shared/notice.js';
import { outcome } from '../shared/webhooks.js';
import { KeyErrorNotice } from './layout.js';

/** @typedef {import('../../../client/src/index.ts').DeliveryDetails} DeliveryDetails */

/**
 * What an attempt has sent, and what became of it.
 * @param {{
 *   account: import('./api.js').OpenAccount, webhookId: DeliveryDetails['id'],
 *   delivery: import('../../../client/src/index.ts').Delivery, onClose: () => void,
 * }} props
 */
export function Attempt({ account, webhookId, delivery, onClose }) {
  const [details, setDetails] = useState(/** @type {DeliveryDetails | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {PetStoreError | undefined} */ (undefined));
  useEffect(() => {
    account.webhooks.delivery(webhookId, delivery.id).then(setDetails, (thrown) => {
      if (!(thrown instanceof PetStoreError)) throw thrown;
      setError(thrown);
    });
  }, []);
  return html`<${Dialog} title="${delivery.type}, attempt ${delivery.attempt}" onClose=${onClose}>
    <p><${Badge} kind=${delivery.status === 'failed' ? 'bad' : 'good'}>${delivery.status}<//> ${outcome(delivery)}</p>
    ${error && html`<${KeyErrorNotice} error=${error} />`}
    ${!error && !details && html`<${Skeleton} label="The attempt" />`}
    ${details && html`<${Request} request=${details.request} />`}
    <div class="actions"><button type="button" class="main" onClick=${onClose}>Close</button></div>
  <//>`;
}

/** @param {Pick<DeliveryDetails, 'request'>} props */
function Request({ request }) {
  if (request === undefined)
    return html`<p class="empty">Nothing was sent, its event is no longer kept, or this key may not see it.</p>`;
  const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return html`
    <h2>Headers</h2>
    <pre class="secret" tabindex="0" role="group" aria-label="Headers"><code>${lines.join('\n')}</code></pre>
    ${!request.headers['webhook-signature'] && html`<p class="muted">The secret that signed it was rotated since.</p>`}
    <h2>Body</h2>
    <pre class="secret" tabindex="0" role="group" aria-label="Body"><code>${request.body}</code></pre>`;
}
