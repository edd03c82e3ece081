import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { usePoll } from '../poll.js';
import { Name, Table } from '../table.js';
import { Time } from '../time.js';
import { get } from './api.js';
import { Confirm } from './confirm.js';
import { Card, Loaded } from './page.js';

/** Seconds between two polls. */
const REFRESH = 60;

/** @type {import('../table.js').Columns} */
const COLUMNS = [
  { name: 'Token', cell: ({ id }) => id },
  { name: 'Operator', isName: true, cell: ({ operator }) => html`<${Name} text=${operator} />` },
  { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  {
    name: 'Expires',
    cell: ({ expiresAt }) => (expiresAt ? html`<${Time} at=${expiresAt} />` : 'with its operator'),
  },
];

/** The tokens of programs, without the tokens themselves. @param {{ about: string }} props another `about` loads them again */
export function Tokens({ about }) {
  const poll = usePoll((signal) => get('/tokens', signal), REFRESH, about);
  const [ending, setEnding] = useState(/** @type {any} */ (undefined));
  const button = (/** @type {any} */ token) =>
    html`<div class="row-actions">
      <button type="button" class="danger" onClick=${() => setEnding(token)}>Revoke<span class="hidden-text"> token ${token.id}</span></button>
    </div>`;
  const columns = [...COLUMNS, { name: '', cell: button }];
  return html`<${Card} title="Tokens of programs">
    <${Loaded} poll=${poll} label="The tokens">${(/** @type {any[]} */ rows) =>
      html`<${Table} caption="Tokens of programs" rows=${rows} columns=${columns}
        empty="No program has a token." />`}<//>
    ${
      ending &&
      html`<${Confirm} title="Revoke token ${ending.id}" submit="Revoke" isDangerous
      request=${['DELETE', `/tokens/${ending.id}`]} done="Token ${ending.id} no longer works."
      onChanged=${poll.refresh} onClose=${() => setEnding(undefined)}>
      <p>Every instance refuses this token at once. This cannot be undone.</p>
    <//>`
    }
  <//>`;
}
