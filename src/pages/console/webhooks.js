import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Field } from '../shared/forms.js';
import { Name } from '../shared/table.js';
import { DELIVERY_CHOICES, DELIVERY_COLUMNS, Endpoint, WebhookState } from '../shared/webhooks.js';
import { withQuery } from './api.js';
import { ACCOUNT, ListTable, useList } from './list.js';
import { Card, Confirm } from './page.js';
import { useIsAdmin } from './session.js';

/** @typedef {import('./schema.d.ts').Webhook} Webhook */

/** Seconds between two polls. */
const LIVE = 5;

/**
 * Webhooks, and the attempts of the one that is open.
 * @param {{ title: string, filters: { accountId?: string, state?: 'failing' }, empty: string }} props
 */
export function Webhooks({ title, filters, empty }) {
  const list = useList(withQuery('/webhooks', { ...filters, limit: 100 }), LIVE);
  const [openId, setOpenId] = useState(/** @type {Webhook['id'] | undefined} */ (undefined));
  const isAdmin = useIsAdmin();
  const toggle = (/** @type {Webhook['id']} */ id) => setOpenId(id === openId ? undefined : id);
  /** @type {import('../shared/table.js').Columns<Webhook>} */
  const columns = [
    { name: 'Endpoint', isName: true, cell: (webhook) => html`<${Endpoint} ...${webhook} />` },
    filters.accountId === undefined && ACCOUNT,
    { name: 'Types', cell: ({ types }) => html`<${Name} text=${types.join(' ')} />` },
    { name: 'State', cell: (webhook) => html`<${WebhookState} ...${webhook} />` },
    { name: 'Missed', isNumber: true, cell: ({ missed }) => missed },
    {
      name: '',
      cell: (webhook) => html`<div class="row-actions">
        <button type="button" aria-pressed=${String(webhook.id === openId)} onClick=${() => toggle(webhook.id)}>
          Attempts<span class="hidden-text"> of webhook ${webhook.id}</span>
        </button>
        ${isAdmin && html`<${SwitchWebhook} webhook=${webhook} onChanged=${list.refresh} />`}
      </div>`,
    },
  ];
  const isListed = list.data?.rows.some(({ id }) => id === openId);
  return html`<${Card} title=${title}>
    <${ListTable} list=${list} caption=${filters.accountId === undefined ? 'Webhooks' : 'Webhooks of the account'} columns=${columns} empty=${empty} />
    ${isListed && html`<${Attempts} key=${openId} webhookId=${openId} />`}
  <//>`;
}

/** The button that disables or enables a webhook. @param {{ webhook: Webhook, onChanged: () => void }} props */
function SwitchWebhook({ webhook: { id, url, enabled }, onChanged }) {
  const [isOpen, setIsOpen] = useState(false);
  const verb = enabled ? 'Disable' : 'Enable';
  return html`<button type="button" onClick=${() => setIsOpen(true)}>${verb}<span class="hidden-text"> webhook ${id}</span></button>
    ${
      isOpen &&
      html`<${Confirm} title="${verb} webhook" submit=${verb} request=${['PATCH', `/webhooks/${id}`, { enabled: !enabled }]}
        done="Webhook ${id} is ${enabled ? 'disabled' : 'enabled'}." onChanged=${onChanged} onClose=${() => setIsOpen(false)}>
        <p><${Name} text=${url} /></p>
        <p>${enabled ? 'It gets no events until it is enabled.' : 'It goes on from its place. Events that are no longer kept are counted as missed.'}</p>
      <//>`
    }`;
}

/** The attempts of a webhook. @param {{ webhookId: Webhook['id'] }} props */
function Attempts({ webhookId }) {
  const [status, setStatus] = useState('');
  const list = useList(withQuery(`/webhooks/${webhookId}/deliveries`, { status, limit: 100 }), LIVE);
  return html`<h3>Attempts of webhook ${webhookId}</h3>
    <search class="filters">
      <${Field} label="Result" choices=${DELIVERY_CHOICES} value=${status} onValue=${setStatus} />
    </search>
    <${ListTable} list=${list} caption="Attempts" columns=${DELIVERY_COLUMNS} empty="There is no such attempt." />`;
}
