import { html } from 'htm/preact';
import { Badge } from '../shared/notice.js';
import { Name, Table } from '../shared/table.js';
import { Time } from '../shared/time.js';

/** @typedef {import('./api.js').Key} Key */

/** @type {Readonly<Record<string, 'good' | 'warn' | undefined>>} */
const KINDS = { active: 'good', rotated: 'warn' };

/** @param {{ keys: readonly Key[], isOwn: (key: Key) => boolean, onAction: (open: { action: 'rotate' | 'revoke', key: Key }) => void }} props */
export function KeyTable({ keys, isOwn, onAction }) {
  const button = (
    /** @type {'rotate' | 'revoke'} */ action,
    /** @type {string} */ text,
    /** @type {Key} */ key,
  ) =>
    html`<button type="button" onClick=${() => onAction({ action, key })}>
      ${text}<span class="hidden-text"> ${key.label ?? `key ${key.id}`}</span>
    </button>`;
  /** @type {import('../shared/table.js').Columns<Key>} */
  const columns = [
    {
      name: 'Label',
      isName: true,
      cell: (its) => html`<${Name} text=${its.label ?? '–'} />${isOwn(its) && html`<${Badge}>this page<//>`}`,
    },
    { name: 'Id', isNumber: true, cell: ({ id }) => id },
    { name: 'Ends with', cell: ({ ending }) => ending && html`<code>…${ending}</code>` },
    { name: 'State', cell: ({ state }) => html`<${Badge} kind=${KINDS[state]}>${state}<//>` },
    { name: 'Scopes', cell: ({ scopes }) => scopes.join(' ') },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) => lastUsedAt && html`<${Time} at=${lastUsedAt} isRelative />`,
    },
    { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    { name: 'Expires', cell: ({ expiresAt }) => (expiresAt ? html`<${Time} at=${expiresAt} />` : 'never') },
    {
      name: '',
      cell: (its) => html`<div class="actions">
        ${its.state === 'active' && button('rotate', 'Rotate', its)}
        ${['active', 'rotated'].includes(its.state) && button('revoke', 'Revoke', its)}
      </div>`,
    },
  ];
  return html`<${Table} caption="Keys of the account" rows=${keys} columns=${columns} />`;
}
