import { html } from 'htm/preact';
import { Badge } from '../shared/notice.js';
import { Day, Time } from '../shared/time.js';
import { KeyActions } from './key-actions.js';
import { ACCOUNT, KeyName } from './links.js';
import { ListTable } from './list.js';
import { useIsAdmin } from './session.js';

const STATE_KINDS = /** @type {Record<string, string>} */ ({
  active: 'good',
  rotated: 'warn',
  revoked: 'bad',
});

/**
 * Keys, with what an admin can do with each.
 * @param {{ list: import('./list.js').List, caption: string, isOfAccount?: boolean, empty: string }} props
 */
export function KeyTable({ list, isOfAccount = false, ...rest }) {
  const isAdmin = useIsAdmin();
  /** @type {import('../shared/table.js').Columns} */
  const columns = [
    { name: 'Key', isName: true, cell: (key) => html`<${KeyName} ...${key} />` },
    !isOfAccount && ACCOUNT,
    { name: 'State', cell: (key) => html`<${State} ...${key} />` },
    { name: 'Scopes', cell: ({ scopes }) => html`<span class="scopes">${scopesText(scopes)}</span>` },
    { name: 'Created', cell: ({ createdAt }) => html`<${Day} at=${createdAt} />` },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt ? html`<${Time} at=${lastUsedAt} isRelative />` : 'never'),
    },
    { name: 'Expires', cell: ({ expiresAt }) => (expiresAt ? html`<${Day} at=${expiresAt} />` : 'never') },
    isAdmin && { name: '', cell: (key) => html`<${KeyActions} its=${key} onChanged=${list.refresh} />` },
  ];
  return html`<${ListTable} list=${list} columns=${columns} ...${rest} />`;
}

/** Scopes in little room: `pets read write, store read`. @param {string[]} scopes */
function scopesText(scopes) {
  const groups = Object.entries(Object.groupBy(scopes, (scope) => scope.split(':')[0] ?? ''));
  return groups
    .map(([of, its = []]) => [of, ...its.map((scope) => scope.split(':')[1])].join(' '))
    .join(', ');
}

/** @param {{ state: string, bannedUntil?: string }} props */
function State({ state, bannedUntil }) {
  return html`<${Badge} kind=${STATE_KINDS[state]}>${state}<//>
    ${bannedUntil && html` <${Badge} kind="bad">banned<//>`}`;
}
