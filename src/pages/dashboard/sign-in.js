import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { AuthenticationError } from '../../../client/src/index.ts';
import { Field, useSubmit } from '../shared/forms.js';
import { openAccount } from './api.js';
import { KeyErrorNotice, Layout } from './layout.js';

/** Asks for a key. `onKey` gets it once the service accepts it. @param {{ onKey: (key: string) => void }} props */
export function SignIn({ onKey }) {
  const [key, setKey] = useState('');
  const { error, isBusy, form } = useSubmit(async () => {
    await openTyped(key.trim()).read();
    onKey(key.trim());
  });
  return html`<${Layout}>
    <div class="narrow stack">
      <h1>Your account</h1>
      <p>Paste an API key to see the plan, the limits, the usage, the keys and the webhooks of its account.</p>
      <form class="card" ...${form}>
        <${Field}
          ...${{ label: 'API key', type: 'password', value: key, onValue: setKey, required: true, autofocus: true }}
          ...${{ autocomplete: 'off', autocapitalize: 'off', spellcheck: false, maxlength: 200 }}
          hint="The key stays in this tab, and a reload keeps it. It is gone when you forget it or close the tab."
        />
        ${error && html`<${KeyErrorNotice} error=${error} />`}
        <div class="actions"><button type="submit" class="main" disabled=${isBusy || key.trim() === ''}>Open</button></div>
      </form>
      <p class="muted">No key? <a href="reference#getting-a-key">The reference says how to get one.</a></p>
    </div>
  <//>`;
}

/** @param {string} key */
function openTyped(key) {
  try {
    return openAccount(key);
  } catch (cause) {
    const message = 'An API key has only letters, digits and underscores.';
    throw new AuthenticationError(message, { status: 401, code: 'unauthorized', cause });
  }
}
