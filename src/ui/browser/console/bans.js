import { html } from 'htm/preact';
import { usePoll } from '../poll.js';
import { get } from './api.js';
import { BanTable } from './ban-table.js';
import { Loaded, Page } from './page.js';

/** Seconds between two polls. */
const LIVE = 5;

export function Bans() {
  const poll = usePoll((signal) => get('/bans', signal), LIVE);
  return html`<${Page} title="Bans" intro="Keys that are banned because they kept sending requests after a 429.">
    <${Loaded} poll=${poll} label="The bans">${(/** @type {any[]} */ bans) =>
      html`<${BanTable} bans=${bans} onLifted=${poll.refresh} empty="No key is banned." />`}<//>
  <//>`;
}
