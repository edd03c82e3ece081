import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Field } from '../field.js';
import { useSubmit } from '../submit.js';
import { KeyFault } from './key-fault.js';
import { Layout } from './layout.js';

/**
 * Asks for a key. `onOpen` gets the API of its account once the service accepts it.
 * @param {{
 *   open: (key: string) => import('./api.js').AccountApi, onOpen: (api: import('./api.js').AccountApi) => void,
 * }} props
 */
export function SignIn({ open, onOpen }) {
  const [key, setKey] = useState('');
  const { error, isBusy, form } = useSubmit(async () => {
    const api = open(key.trim());
    await api.account();
    onOpen(api);
  });
  return html`<${Layout}>
    <div class="narrow stack">
      <h1>Your account</h1>
      <p>Paste an API key to see the plan, the limits, the usage and the keys of its account.</p>
      <form class="card" ...${form}>
        <${Field}
          ...${{ label: 'API key', type: 'password', value: key, onValue: setKey, required: true }}
          ...${{ autocomplete: 'off', autocapitalize: 'off', spellcheck: false, maxlength: 200 }}
          hint="The key stays in this tab. It is gone when you close or reload the page."
        />
        ${error && html`<${KeyFault} error=${error} />`}
        <div class="actions"><button type="submit" class="main" disabled=${isBusy || key.trim() === ''}>Open</button></div>
      </form>
      <p class="muted">No key? <a href="reference#tag/getting-a-key">The reference says how to get one.</a></p>
    </div>
  <//>`;
}
