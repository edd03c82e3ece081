import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Field } from '../shared/field.js';
import { AccountPicker } from './account-picker.js';
import { FaultTable } from './fault-table.js';
import { Page } from './page.js';
import { filterBy, usePlace } from './router.js';

const STATUSES = ['400', '401', '403', '404', '405', '409', '412', '413', '415', '422', '429', '500', '503'];

export function Faults() {
  const { query } = usePlace();
  const filters = Object.fromEntries(
    ['requestId', 'accountId', 'status'].map((name) => [name, query.get(name) ?? undefined]),
  );
  const [text, setText] = useState(filters.requestId ?? '');
  const intro = 'The last 10,000 refused and failed requests of this instance, since it started.';
  /** @param {Event} event */
  const find = (event) => {
    event.preventDefault();
    filterBy({ requestId: text.trim() });
  };
  const choices = [
    { value: '', text: 'All' },
    ...STATUSES.map((status) => ({ value: status, text: status })),
  ];
  return html`<${Page} title="Faults" intro=${intro}>
    <search class="filters">
      <form class="with-button" onSubmit=${find}>
        <${Field} label="Request id" type="search" maxlength="200" autocomplete="off" spellcheck="false" value=${text}
          onValue=${setText} />
        <button type="submit">Find</button>
      </form>
      <${Field} label="Status" value=${filters.status ?? ''} choices=${choices}
        onValue=${(/** @type {string} */ status) => filterBy({ status })} />
      <${AccountPicker} id=${filters.accountId} onId=${(/** @type {string} */ accountId) => filterBy({ accountId })} />
    </search>
    <${FaultTable} filters=${{ ...filters, limit: 100 }} />
  <//>`;
}
