import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../fetch.js';
import { Field } from '../field.js';
import { Fault } from '../notice.js';
import { change } from './api.js';
import { KeyTable } from './key-table.js';
import { Card } from './page.js';

/** Finds the record of a key, for example of one from a public repository. @param {{ onChanged: () => void }} props */
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
  // The page does not keep the key, so it cannot find it again. The list below shows its new state.
  const refresh = () => {
    setFound({});
    onChanged();
  };
  const list = /** @type {any} */ ({ data: { rows: [found.key] }, refresh });
  return html`<${Card} title="Find a leaked key">
    <form class="with-button" onSubmit=${onSubmit}>
      <${Field} label="Whole key" type="password" autocomplete="off" spellcheck="false" required value=${text}
        onValue=${setText} hint="The page sends it in the body of a request. The service does not store it." />
      <button type="submit">Find</button>
    </form>
    <div role="status" class="stack">
      ${found.error && html`<${Fault} error=${found.error} />`}
      ${found.key && html`<${KeyTable} list=${list} caption="The key that was found" empty="" />`}
    </div>
  <//>`;
}
