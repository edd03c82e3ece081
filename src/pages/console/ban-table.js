import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Name, Table } from '../shared/table.js';
import { Time } from '../shared/time.js';
import { Confirm } from './confirm.js';
import { ACCOUNT, KEY } from './links.js';
import { useIsAdmin } from './session.js';

/** Bans in force, with the buttons that lift them. @param {{ bans: any[], onLifted: () => void, empty: string }} props */
export function BanTable({ bans, onLifted, empty }) {
  const [lifting, setLifting] = useState(/** @type {any} */ (undefined));
  const isAdmin = useIsAdmin();
  const lift = (/** @type {any} */ ban) => html`<div class="row-actions">
    <button type="button" onClick=${() => setLifting(ban)}>Lift<span class="hidden-text"> the ban of key ${ban.keyId}</span></button>
  </div>`;
  /** @type {import('../shared/table.js').Columns} */
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
    <${Table} caption="Bans in force" rows=${bans} rowKey=${(/** @type {any} */ ban) => ban.keyId} empty=${empty}
      columns=${columns} />
    ${lifting && html`<${LiftBan} ban=${lifting} onClose=${() => setLifting(undefined)} onChanged=${onLifted} />`}
  `;
}

/** @param {{ ban: any, onClose: () => void, onChanged: () => void }} props */
function LiftBan({ ban: { keyId, account }, ...dialog }) {
  return html`<${Confirm} title="Lift ban" submit="Lift ban" request=${['DELETE', `/bans/${keyId}`]}
    done="The ban of key ${keyId} is lifted." ...${dialog}>
    <p>Key ${keyId}${account && html` of <b><${Name} text=${account} /></b>`}</p>
    <p>This ends the ban within 2 seconds and forgets earlier bans of the key.</p>
  <//>`;
}
