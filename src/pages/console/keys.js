import { html } from 'htm/preact';
import { Field } from '../shared/field.js';
import { withQuery } from './api.js';
import { FindKey } from './find-key.js';
import { KeyTable } from './key-table.js';
import { useList } from './list.js';
import { Page } from './page.js';
import { filterBy, usePlace } from './router.js';
import { KEY_STATES, asChoice } from './terms.js';

export function Keys() {
  const state = usePlace().query.get('state') ?? '';
  const list = useList(withQuery('/keys', { state, limit: 100 }));
  return html`<${Page} title="Keys">
    <${FindKey} onChanged=${list.refresh} />
    <search class="filters">
      <${Field} label="State" value=${state} choices=${[{ value: '', text: 'All' }, ...KEY_STATES.map(asChoice)]}
        onValue=${(/** @type {string} */ value) => filterBy({ state: value })} />
    </search>
    <${KeyTable} list=${list} caption="Keys" empty=${state ? `No key is ${state}.` : 'There is no key yet.'} />
  <//>`;
}
