import { html } from 'htm/preact';
import { Badge } from '../notice.js';
import { Name, Table } from '../table.js';
import { Time } from '../time.js';

/** @typedef {import('./api.js').Key} Key */

/** @type {Readonly<Record<string, 'good' | 'warn' | undefined>>} */
const KINDS = { active: 'good', rotated: 'warn' };

/** Keys that can be rotated, and those that can be revoked. */
const CAN_ROTATE = new Set(['active']);
const CAN_REVOKE = new Set(['active', 'rotated']);

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
  return html`<${Table}
    caption="Keys of the account"
    rows=${keys}
    rowKey=${(/** @type {Key} */ { id }) => id}
    columns=${[
      {
        name: 'Label',
        isName: true,
        cell: (/** @type {Key} */ its) =>
          html`<${Name} text=${its.label ?? '–'} />${isOwn(its) && html`<${Badge}>this page<//>`}`,
      },
      { name: 'Id', isNumber: true, cell: (/** @type {Key} */ { id }) => id },
      {
        name: 'Ends with',
        cell: (/** @type {Key} */ its) => its.ending && html`<code>…${its.ending}</code>`,
      },
      {
        name: 'State',
        cell: (/** @type {Key} */ { state }) => html`<${Badge} kind=${KINDS[state]}>${state}<//>`,
      },
      { name: 'Scopes', cell: (/** @type {Key} */ { scopes }) => scopes.join(' ') },
      {
        name: 'Last used',
        cell: (/** @type {Key} */ its) => its.lastUsedAt && html`<${Time} at=${its.lastUsedAt} isRelative />`,
      },
      { name: 'Created', cell: (/** @type {Key} */ { createdAt }) => html`<${Time} at=${createdAt} />` },
      {
        name: 'Expires',
        cell: (/** @type {Key} */ its) => (its.expiresAt ? html`<${Time} at=${its.expiresAt} />` : 'never'),
      },
      {
        name: '',
        cell: (/** @type {Key} */ its) => html`<div class="actions">
          ${CAN_ROTATE.has(its.state) && button('rotate', 'Rotate', its)}
          ${CAN_REVOKE.has(its.state) && button('revoke', 'Revoke', its)}
        </div>`,
      },
    ]}
  />`;
}
