import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Time } from '../shared/format.js';
import { Name, Table } from '../shared/table.js';
import { ACCOUNT, KEY, More, useList } from './list.js';
import { Confirm, Loaded, Page } from './page.js';
import { useIsAdmin } from './session.js';

/** Seconds between two polls. */
const LIVE = 5;

export function Bans() {
  const list = useList('/bans?limit=100', LIVE);
  return html`<${Page} title="Bans" intro="Keys that are banned because they kept sending requests after a 429.">
    <${Loaded} poll=${list} label="The bans">${(/** @type {any} */ { rows }) => html`
      <div class="stack">
        <${BanTable} bans=${rows} onLifted=${list.refresh} empty="No key is banned." />
        <${More} list=${list} />
      </div>
    `}<//>
  <//>`;
}

/** @typedef {import('./schema.d.ts').Bans[number] | (import('./schema.d.ts').AccountDetails['bans'][number] & { account?: undefined, accountId?: undefined })} Ban */

/** Bans in force, with the buttons that lift them. @param {{ bans: readonly Ban[], onLifted: () => void, empty: string }} props */
export function BanTable({ bans, onLifted, empty }) {
  const [lifting, setLifting] = useState(/** @type {Ban | undefined} */ (undefined));
  const isAdmin = useIsAdmin();
  const lift = (/** @type {Ban} */ ban) => html`<div class="row-actions">
    <button type="button" onClick=${() => setLifting(ban)}>Lift<span class="hidden-text"> the ban of key ${ban.keyId}</span></button>
  </div>`;
  /** @type {import('../shared/table.js').Columns<Ban>} */
  const columns = [
    { ...KEY, isName: true },
    bans.some(({ account }) => account) && ACCOUNT,
    {
      name: 'Ends',
      cell: ({ until }) =>
        html`<${Time} at=${until} /> <span class="muted"><${Time} at=${until} isRelative /></span>`,
    },
    { name: 'Bans in a row', isNumber: true, cell: ({ count }) => count },
    isAdmin && { name: '', cell: lift },
  ];
  return html`
    <${Table} caption="Bans in force" rows=${bans} rowKey=${(/** @type {Ban} */ ban) => ban.keyId} empty=${empty}
      columns=${columns} />
    ${lifting && html`<${LiftBan} ban=${lifting} onClose=${() => setLifting(undefined)} onChanged=${onLifted} />`}
  `;
}

/** @param {{ ban: Ban, onClose: () => void, onChanged: () => void }} props */
function LiftBan({ ban: { keyId, account }, ...dialog }) {
  return html`<${Confirm} title="Lift ban" submit="Lift ban" request=${['DELETE', `/bans/${keyId}`]}
    done="The ban of key ${keyId} is lifted." ...${dialog}>
    <p>Key ${keyId}${account && html` of <b><${Name} text=${account} /></b>`}</p>
    <p>This ends the ban within 2 seconds and forgets earlier bans of the key.</p>
  <//>`;
}
