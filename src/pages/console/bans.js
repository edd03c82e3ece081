import { html } from 'htm/preact';
import { BanTable } from './ban-table.js';
import { More, useList } from './list.js';
import { Loaded, Page } from './page.js';

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
