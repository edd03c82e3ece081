import { html } from 'htm/preact';
import { Name } from '../shared/table.js';

/** An account by its name, as a link to its page. @param {{ id: number, name: string }} props */
export function AccountLink({ id, name }) {
  return html`<a href="/accounts/${id}"><${Name} text=${name} /></a>`;
}

/** A key by its label and number. @param {{ id: number, label?: string | undefined, ending?: string | undefined }} props */
export function KeyName({ id, label, ending }) {
  const more = `key ${id}${ending === undefined ? '' : `, ends in ${ending}`}`;
  return html`${label === undefined ? html`<span class="name muted">no label</span>` : html`<${Name} text=${label} />`}
    <span class="muted fixed">${more}</span>`;
}

/** The account of a row, if there is one. @type {import('../shared/table.js').Column<any>} */
export const ACCOUNT = {
  name: 'Account',
  cell: ({ accountId, account }) =>
    accountId === undefined
      ? '–'
      : html`<${AccountLink} id=${accountId} name=${account ?? `account ${accountId}`} />`,
};

/** The key of a row. @type {import('../shared/table.js').Column<any>} */
export const KEY = {
  name: 'Key',
  cell: ({ keyId, label }) => html`<${KeyName} id=${keyId} label=${label} />`,
};
