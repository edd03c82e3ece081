import { html } from 'htm/preact';
import { Name } from '../table.js';

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
