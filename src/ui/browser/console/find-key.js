import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Field } from '../field.js';
import { Fault } from '../notice.js';
import { useSubmit } from '../submit.js';
import { change } from './api.js';
import { KeyTable } from './key-table.js';
import { Card } from './page.js';

/** Finds the record of a key, for example of one from a public repository. @param {{ onChanged: () => void }} props */
export function FindKey({ onChanged }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState(/** @type {any} */ (undefined));
  const { error, form } = useSubmit(async () => {
    const key = text.trim();
    setText('');
    setFound(undefined);
    setFound(await change('POST', '/keys/find', { key }));
  });
  // The page does not keep the key, so it cannot find it again. The list below shows its new state.
  const refresh = () => {
    setFound(undefined);
    onChanged();
  };
  const list = /** @type {any} */ ({ data: { rows: [found] }, refresh });
  return html`<${Card} title="Find a leaked key">
    <form class="with-button" ...${form}>
      <${Field} label="Whole key" type="password" autocomplete="off" spellcheck="false" required value=${text}
        onValue=${setText} hint="The page sends it in the body of a request. The service does not store it." />
      <button type="submit">Find</button>
    </form>
    <div role="status" class="stack">
      ${error && html`<${Fault} error=${error} />`}
      ${found && html`<${KeyTable} list=${list} caption="The key that was found" empty="" />`}
    </div>
  <//>`;
}
