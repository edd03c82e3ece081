import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Name } from '../shared/table.js';
import { Time } from '../shared/time.js';
import { Confirm } from './confirm.js';
import { ListTable, useList } from './list.js';
import { Card } from './page.js';

/** Seconds between two polls. */
const REFRESH = 60;

/** @type {import('../shared/table.js').Columns} */
const COLUMNS = [
  { name: 'Token', cell: ({ id }) => id },
  { name: 'Operator', isName: true, cell: ({ operator }) => html`<${Name} text=${operator} />` },
  { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  {
    name: 'Expires',
    cell: ({ expiresAt }) => (expiresAt ? html`<${Time} at=${expiresAt} />` : 'with its operator'),
  },
];

/** The tokens of programs, without the tokens themselves. */
export function Tokens() {
  const list = useList('/tokens?limit=100', REFRESH);
  const [ending, setEnding] = useState(/** @type {any} */ (undefined));
  const button = (/** @type {any} */ token) =>
    html`<div class="row-actions">
      <button type="button" class="danger" onClick=${() => setEnding(token)}>Revoke<span class="hidden-text"> token ${token.id}</span></button>
    </div>`;
  const columns = [...COLUMNS, { name: '', cell: button }];
  return html`<${Card} title="Tokens of programs">
    <${ListTable} list=${list} caption="Tokens of programs" columns=${columns} empty="No program has a token." />
    ${
      ending &&
      html`<${Confirm} title="Revoke token ${ending.id}" submit="Revoke" isDangerous
      request=${['DELETE', `/tokens/${ending.id}`]} done="Token ${ending.id} no longer works."
      onChanged=${list.refresh} onClose=${() => setEnding(undefined)}>
      <p>Every instance refuses this token at once. This cannot be undone.</p>
    <//>`
    }
  <//>`;
}
