import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { serviceTime } from '../shared/fetch.js';
import { Time } from '../shared/format.js';
import { Field, fieldOf, instantOf, UtcField } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Skeleton } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { Name, Table } from '../shared/table.js';
import { DELIVERY_CHOICES, DELIVERY_COLUMNS, Endpoint, outcome, WebhookState } from '../shared/webhooks.js';
import { Attempt } from './attempt.js';
import { KeyErrorNotice } from './layout.js';
import { ChangeWebhook, CreateWebhook } from './webhook-form.js';

/**
 * @typedef {import('../../../client/src/index.ts').Webhook} Webhook
 * @typedef {import('../../../client/src/index.ts').Delivery} Delivery
 */

/** Seconds between two polls of the attempts. They also load after each change. */
const INTERVAL = 30;

/**
 * The webhooks of the account, and the attempts of the one that is open: the address names it.
 * @param {{
 *   account: import('./api.js').OpenAccount, webhooks: import('../shared/poll.js').Polled<Webhook[] | undefined>,
 *   scopes: readonly string[], onSecret: (secret: string) => void,
 * }} props `scopes`: those of the key; `onSecret` gets each new secret
 */
export function Webhooks({ account, webhooks: { data, error, failingSince, refresh }, scopes, onSecret }) {
  const [isNew, setIsNew] = useState(false);
  const [openId, open] = useOpenId();
  const webhook = data?.find(({ id }) => String(id) === openId);
  const created = (/** @type {string} */ secret) => {
    setIsNew(false);
    onSecret(secret);
    refresh();
  };
  const toggle = (/** @type {Webhook} */ { id }) => open(String(id) === openId ? '' : String(id));
  return html`<section class="card" aria-label="Webhooks">
    <div class="row">
      <h2>Webhooks</h2>
      ${data && html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Add a webhook</button>`}
    </div>
    ${error && !data && html`<${Unavailable} error=${error} failingSince=${failingSince} />`}
    ${data ? html`<${WebhookTable} webhooks=${data} openId=${openId} onToggle=${toggle} />` : !error && html`<${Skeleton} label="The list of webhooks" />`}
    ${
      webhook &&
      html`<${OpenWebhook} key=${webhook.id} account=${account} webhook=${webhook} webhooks=${data} scopes=${scopes} onSecret=${onSecret}
        onChanged=${refresh} />`
    }
    ${isNew && html`<${CreateWebhook} account=${account} scopes=${scopes} onClose=${() => setIsNew(false)} onCreated=${created} />`}
  </section>`;
}

/** Milliseconds. A replay begins so long ago, unless another time is chosen. */
const HOUR = 3_600_000;

/** In the address, before the number of the webhook that is open. */
const ANCHOR = '#webhook-';

const readOpenId = () => (location.hash.startsWith(ANCHOR) ? location.hash.slice(ANCHOR.length) : '');

/**
 * The webhook that the address names, and what opens another one: a reload and "back" find it again.
 * @returns {[string, (id: string) => void]} an empty id stands for none
 */
function useOpenId() {
  const [id, setId] = useState(readOpenId);
  useEffect(() => {
    const follow = () => setId(readOpenId());
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const open = (/** @type {string} */ next) => {
    history.pushState(null, '', next === '' ? location.pathname : ANCHOR + next);
    setId(next);
  };
  return [id, open];
}

/** The list answers 404 where the service has no webhooks. @param {Parameters<typeof KeyErrorNotice>[0]} props */
function Unavailable(props) {
  return props.error.status === 404
    ? html`<p class="empty">${props.error.message}</p>`
    : html`<${KeyErrorNotice} ...${props} />`;
}

/** @param {{ webhooks: readonly Webhook[], openId: string, onToggle: (webhook: Webhook) => void }} props */
function WebhookTable({ webhooks, openId, onToggle }) {
  /** @type {import('../shared/table.js').Columns<Webhook>} */
  const columns = [
    { name: 'Endpoint', isName: true, cell: (webhook) => html`<${Endpoint} ...${webhook} />` },
    { name: 'Types', cell: ({ types }) => html`<${Name} text=${types.join(' ')} />` },
    { name: 'State', cell: (webhook) => html`<${WebhookState} ...${webhook} />` },
    { name: 'Missed', isNumber: true, cell: ({ missed }) => missed },
    { name: 'Added', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    {
      name: '',
      cell: (webhook) => html`<div class="actions">
        <button type="button" aria-pressed=${String(String(webhook.id) === openId)} onClick=${() => onToggle(webhook)}>
          Open<span class="hidden-text"> ${webhook.url}</span>
        </button>
      </div>`,
    },
  ];
  return html`<${Table} caption="Webhooks of the account" rows=${webhooks} columns=${columns}
    empty="This account has no webhook yet." />`;
}

/**
 * A change that a dialog offers. `run` gives a sentence to say, or the webhook with its new secret.
 * @typedef {{
 *   title: string, submit: string, text: string, isDangerous?: boolean, hasSince?: boolean,
 *   run: (since: string) => Promise<string | { secret: string }>,
 * }} Action
 */

/**
 * One webhook: what can be done with it, and its attempts.
 * @param {{
 *   account: import('./api.js').OpenAccount, webhook: Webhook, webhooks: readonly Webhook[] | undefined,
 *   scopes: readonly string[], onSecret: (secret: string) => void, onChanged: () => void,
 * }} props `webhooks` is the list that was loaded last
 */
function OpenWebhook({ account, webhook, webhooks, scopes, onSecret, onChanged }) {
  const [shown, setShown] = useState(/** @type {Delivery | undefined} */ (undefined));
  const [isChanging, setIsChanging] = useState(false);
  const [status, setStatus] = useState('');
  const [action, setAction] = useState(/** @type {Action | undefined} */ (undefined));
  const { data, error, failingSince, refresh } = usePoll(
    (signal) => account.readDeliveries(webhook.id, status, signal),
    INTERVAL,
    status,
  );
  useEffect(refresh, [webhooks]);
  const done = (/** @type {string | { secret: string }} */ result) => {
    setAction(undefined);
    if (typeof result === 'string') say(result);
    else onSecret(result.secret);
    onChanged();
  };
  const changed = () => {
    setIsChanging(false);
    say('The webhook is changed.');
    onChanged();
  };
  /** @type {import('../shared/table.js').Columns<Delivery>} */
  const columns = [
    ...DELIVERY_COLUMNS,
    {
      name: '',
      cell: (delivery) =>
        html`<div class="actions">
          <button type="button" onClick=${() => setShown(delivery)}>
            Details<span class="hidden-text"> of attempt ${delivery.attempt}, ${delivery.at}</span>
          </button>
          ${
            delivery.type !== 'webhook.test' &&
            html`
          <button type="button" onClick=${() => setAction(redelivery(account, webhook, delivery))}>
            Redeliver<span class="hidden-text"> ${delivery.type}, attempt ${delivery.attempt}</span>
          </button>`
          }
        </div>`,
    },
  ];
  return html`
    <div class="row">
      <h3 class="name" title=${webhook.url}>${webhook.url}</h3>
      <div class="actions">
        <button type="button" onClick=${() => setIsChanging(true)}>Change</button>
        ${actions(account, webhook).map(
          (offered) =>
            html`<button type="button" class=${offered.isDangerous ? 'danger' : ''} onClick=${() => setAction(offered)}>
            ${offered.submit}
          </button>`,
        )}</div>
    </div>
    <search class="filters">
      <${Field} label="Attempts" choices=${DELIVERY_CHOICES} value=${status} onValue=${setStatus}
        hint="The newest 100, updated every ${INTERVAL} seconds." />
    </search>
    ${error && !data && html`<${KeyErrorNotice} error=${error} failingSince=${failingSince} />`}
    ${
      data
        ? html`<${Table} caption="Attempts of the webhook" rows=${data} columns=${columns} empty="There is no such attempt yet." />`
        : !error && html`<${Skeleton} label="The attempts" />`
    }
    ${shown && html`<${Attempt} account=${account} webhookId=${webhook.id} delivery=${shown} onClose=${() => setShown(undefined)} />`}
    ${isChanging && html`<${ChangeWebhook} account=${account} webhook=${webhook} scopes=${scopes} onClose=${() => setIsChanging(false)} onChanged=${changed} />`}
    ${action && html`<${ActionDialog} action=${action} url=${webhook.url} onClose=${() => setAction(undefined)} onDone=${done} />`}
  `;
}

/** @param {{ action: Action, url: string, onClose: () => void, onDone: (result: string | { secret: string }) => void }} props */
function ActionDialog({ action: { title, submit, text, isDangerous, hasSince, run }, url, onClose, onDone }) {
  const [since, setSince] = useState(() => fieldOf(new Date(serviceTime().getTime() - HOUR).toISOString()));
  const onSubmit = async () => onDone(await run(instantOf(since) ?? ''));
  return html`<${FormDialog} title=${title} submit=${submit} isDangerous=${isDangerous} onClose=${onClose} onSubmit=${onSubmit}>
    <p><${Name} text=${url} /></p>
    <p>${text}</p>
    ${hasSince && html`<${UtcField} label="Since (UTC)" required value=${since} onValue=${setSince} />`}
  <//>`;
}

/** What can be done with a webhook. @param {import('./api.js').OpenAccount} account @param {Webhook} webhook @returns {Action[]} */
function actions({ webhooks }, { id, enabled }) {
  return [
    {
      title: 'Test the webhook',
      submit: 'Test',
      text: 'This sends an event webhook.test to the endpoint now, once.',
      async run() {
        const sent = await webhooks.test(id);
        const result = `The test ${sent.status}: ${outcome(sent)}.`;
        return sent.enabled ? result : `${result} The webhook is disabled: it gets no other events.`;
      },
    },
    {
      title: 'Replay events',
      submit: 'Replay',
      text: 'This moves the webhook to the first event of this time, back or forward. It gets all events from there on.',
      hasSince: true,
      run: (since) => webhooks.replay(id, { since }).then(() => 'The events will be sent.'),
    },
    {
      title: 'Rotate the secret',
      submit: 'Rotate',
      text: 'This makes a new secret. For 24 hours, both secrets sign each event.',
      run: () => webhooks.rotate(id),
    },
    enabled
      ? {
          title: 'Disable the webhook',
          submit: 'Disable',
          text: 'It gets no events until it is enabled. Then it goes on from its place.',
          run: () => webhooks.update(id, { enabled: false }).then(() => 'The webhook is disabled.'),
        }
      : {
          title: 'Enable the webhook',
          submit: 'Enable',
          text: 'It goes on from its place. Events that are no longer kept are counted as missed.',
          run: () => webhooks.update(id, { enabled: true }).then(() => 'The webhook is enabled.'),
        },
    {
      title: 'Delete the webhook',
      submit: 'Delete',
      text: 'Nothing is sent to it any more, and its attempts are deleted. This cannot be undone.',
      isDangerous: true,
      run: () => webhooks.delete(id).then(() => 'The webhook is deleted.'),
    },
  ];
}

/**
 * @param {import('./api.js').OpenAccount} account @param {Webhook} webhook @param {Delivery} delivery
 * @returns {Action}
 */
function redelivery({ webhooks }, { id, enabled }, delivery) {
  return {
    title: 'Deliver the event again',
    submit: 'Redeliver',
    text: `This sends ${delivery.type} again, with all its retries.${enabled ? '' : ' It waits until the webhook is enabled.'}`,
    run: () => webhooks.redeliver(id, delivery.id).then(() => `${delivery.type} will be sent again.`),
  };
}
