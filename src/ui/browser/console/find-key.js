import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../fetch.js';
import { Field } from '../field.js';
import { Fault } from '../notice.js';
import { change } from './api.js';
import { KeyTable } from './key-table.js';
import { Card } from './page.js';

/** Finds whose key somebody has found, for example in a public repository. @param {{ onChanged: () => void }} props */
export function FindKey({ onChanged }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState(/** @type {{ key?: any, error?: ApiError }} */ ({}));
  /** @param {string} key */
  async function ask(key) {
    try {
      setFound({ key: await change('POST', '/keys/find', { key }) });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setFound({ error });
    }
  }
  /** @param {Event} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    const key = text.trim();
    setText('');
    await ask(key);
  };
  // Revoked or rotated, the key itself is not known any more; the list below shows its new state.
  const refresh = () => {
    setFound({});
    onChanged();
  };
  const list = /** @type {any} */ ({ data: { rows: [found.key] }, refresh });
  return html`<${Card} title="Find a leaked key">
    <form class="with-button" onSubmit=${onSubmit}>
      <${Field} label="Whole key" type="password" autocomplete="off" spellcheck="false" required value=${text}
        onValue=${setText} hint="It is sent in the body of a request and kept nowhere." />
      <button type="submit">Find</button>
    </form>
    <div role="status" class="stack">
      ${found.error && html`<${Fault} error=${found.error} />`}
      ${found.key && html`<${KeyTable} list=${list} caption="The key that was found" empty="" />`}
    </div>
  <//>`;
}
