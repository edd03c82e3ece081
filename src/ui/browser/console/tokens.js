import { html } from 'htm/preact';
import { usePoll } from '../poll.js';
import { Name, Table } from '../table.js';
import { Time } from '../time.js';
import { get } from './api.js';
import { Card, Loaded } from './page.js';

/** Seconds between two looks. */
const REFRESH = 60;

/** @type {import('../table.js').Column<any>[]} */
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
  return html`<${Card} title="Tokens of programs">
    <${Loaded} poll=${poll} label="The tokens">${(/** @type {any[]} */ rows) =>
      html`<${Table} caption="Tokens of programs" rows=${rows} columns=${COLUMNS}
        rowKey=${(/** @type {any} */ { id }) => id} empty="No program has a token." />`}<//>
  <//>`;
}
