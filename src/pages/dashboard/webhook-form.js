import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { Check, Field } from '../shared/forms.js';
import { EVENTS } from './events.js';

/**
 * @typedef {import('../../../client/src/index.ts').Webhook} Webhook
 * @typedef {Webhook['types'][number]} TypeFilter
 * @typedef {{ account: import('./api.js').OpenAccount, scopes: readonly string[], onClose: () => void }} FormProps `scopes`: those of the key
 */

/** @param {FormProps & { onCreated: (secret: string) => void }} props */
export function CreateWebhook({ account, scopes, onClose, onCreated }) {
  const settings = useSettings({ url: '', types: [] });
  async function create() {
    const { url, types, description } = settings.values();
    const { secret } = await account.webhooks.create({
      url,
      ...(types.length > 0 && { types }),
      ...(description !== '' && { description }),
    });
    onCreated(secret);
  }
  return html`<${FormDialog} title="Add a webhook" submit="Add" onClose=${onClose} onSubmit=${create}>
    <${Settings} ...${settings} scopes=${scopes} />
  <//>`;
}

/** Sends what was changed only. @param {FormProps & { webhook: Webhook, onChanged: () => void }} props */
export function ChangeWebhook({ account, scopes, webhook, onClose, onChanged }) {
  const settings = useSettings(webhook);
  async function change() {
    const { url, types, description } = settings.values();
    const chosen = types.length === 0 ? ['*'] : types;
    await account.webhooks.update(webhook.id, {
      ...(url !== webhook.url && { url }),
      ...(description !== (webhook.description ?? '') && { description: description || null }),
      ...(chosen.join() !== webhook.types.join() && { types: /** @type {TypeFilter[]} */ (chosen) }),
    });
    onChanged();
  }
  return html`<${FormDialog} title="Change the webhook" submit="Save" onClose=${onClose} onSubmit=${change}>
    <${Settings} ...${settings} scopes=${scopes} />
  <//>`;
}

/** What is typed and chosen. @param {Pick<Webhook, 'url' | 'types' | 'description'>} webhook */
function useSettings(webhook) {
  const [url, setUrl] = useState(webhook.url);
  const [description, setDescription] = useState(webhook.description ?? '');
  const [types, setTypes] = useState(() => webhook.types.filter((type) => type !== '*'));
  const values = () => ({ url: url.trim(), types, description: description.trim() });
  return { url, setUrl, description, setDescription, types, setTypes, values };
}

/** @param {ReturnType<typeof useSettings> & { scopes: readonly string[] }} props */
function Settings({ url, setUrl, description, setDescription, types, setTypes, scopes }) {
  return html`
    <${Field} label="URL" value=${url} onValue=${setUrl} required maxlength="2048" spellcheck=${false}
      hint="Where the events go: https, at a public address. For a program on your machine: npx petstore-client listen" />
    <${Field} label="Description" value=${description} onValue=${setDescription} maxlength="200"
      hint="What the endpoint is for. Optional." />
    <fieldset class="field">
      <legend>Types of events</legend>
      <span class="muted">It gets those that this key may see. Without a choice, it gets all of them.</span>
      ${Object.keys(EVENTS).map((kind) => html`<${Kind} key=${kind} kind=${kind} types=${types} onTypes=${setTypes} scopes=${scopes} />`)}
    </fieldset>`;
}

/**
 * The events of a kind of thing: all of them, or some.
 * @param {{ kind: string, types: readonly TypeFilter[], onTypes: (types: TypeFilter[]) => void, scopes: readonly string[] }} props
 */
function Kind({ kind, types, onTypes, scopes }) {
  const all = /** @type {TypeFilter} */ (`${kind}.*`);
  const offered = EVENTS[kind] ?? [];
  const choose = (/** @type {string} */ type, /** @type {boolean} */ isChosen) => {
    const others = types.filter((other) => other !== type && !(type === all && other.startsWith(`${kind}.`)));
    onTypes(isChosen ? [...others, /** @type {TypeFilter} */ (type)] : others);
  };
  const hasAll = types.includes(all);
  return html`<fieldset class="kind">
    <legend class="hidden-text">${all}</legend>
    <${Check} label=${all} checked=${hasAll} onValue=${(/** @type {boolean} */ isChosen) => choose(all, isChosen)} />
    ${
      !hasAll &&
      offered.map(
        ({
          type,
          scope,
          when,
          readers,
          example,
        }) => html`<${Check} key=${type} label=${type} checked=${types.some((one) => one === type)}
          hint="${when}${scope === undefined || scopes.includes(scope) ? '' : ` This key does not see it: it lacks ${scope}.`}"
          onValue=${(/** @type {boolean} */ isChosen) => choose(type, isChosen)} />
          <details>
            <summary>Readers and example<span class="hidden-text"> of ${type}</span></summary>
            <p>${readers.replaceAll('`', '')}</p>
            <pre class="secret"><code>${JSON.stringify(example, null, 2)}</code></pre>
          </details>`,
      )
    }
  </fieldset>`;
}
