import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { DEFAULT_SCOPES, SCOPES } from '../../domain/scope.ts';
import { LISTED_STATES } from '../../domain/states.ts';
import { FormDialog, SecretDialog } from '../shared/dialog.js';
import { Day, Time } from '../shared/format.js';
import {
  DEFAULT_GRACE,
  Field,
  GraceField,
  instantOf,
  ScopesField,
  useSubmit,
  UtcField,
} from '../shared/forms.js';
import { Badge, ErrorNotice, KeyState } from '../shared/notice.js';
import { Name } from '../shared/table.js';
import { change, withQuery } from './api.js';
import { asChoice, ChoiceFilter, SearchField, useFilters } from './fields.js';
import { ACCOUNT, KeyName, ListTable, useCountedList, useList } from './list.js';
import { Card, Confirm, Page } from './page.js';
import { useIsAdmin } from './session.js';

export function Keys() {
  const { sort, ...filters } = useFilters(['search', 'state', 'unusedFor', 'expiresWithin', 'sort']);
  const list = useCountedList('/keys', 'key', { filters, sort });
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return html`<${Page} title="Keys">
    <${FindKey} onChanged=${list.refresh} />
    <search class="filters">
      <${SearchField} label="Search" hint="Label, account, ending or number" />
      <${ChoiceFilter} label="State" name="state" choices=${LISTED_STATES.map(asChoice)} />
      <${ChoiceFilter} label="Unused for" name="unusedFor" all="Any time" choices=${UNUSED} />
      <${ChoiceFilter} label="Expires within" name="expiresWithin" all="Any time" choices=${EXPIRES} />
      <${ChoiceFilter} label="Sort by" name="sort" all="Newest first" choices=${ORDERS} />
    </search>
    <${KeyTable} list=${list} caption="Keys" empty=${isFiltered ? 'No key fits these filters.' : 'There are no keys yet.'} />
  <//>`;
}

/** Times for the filters, in seconds. @param {number} count */
const days = (count) => ({ value: String(count * 86_400), text: `${count} days` });
const UNUSED = [30, 90, 180, 365].map(days);
const EXPIRES = [7, 30, 90].map(days);

const ORDERS = [
  { value: 'created', text: 'Oldest first' },
  { value: 'lastUsed', text: 'Unused for longest' },
  { value: '-lastUsed', text: 'Used last' },
  { value: 'expires', text: 'Expires first' },
];

/** Finds the record of a key, for example of one from a public repository. @param {{ onChanged: () => void }} props */
function FindKey({ onChanged }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState(/** @type {import('./schema.d.ts').Key | undefined} */ (undefined));
  const { error, form } = useSubmit(async () => {
    const key = text.trim();
    setText('');
    setFound(undefined);
    setFound(await change('POST', '/keys/find', { key }));
  });
  // The page does not keep the key, so it cannot find it again. The list below shows its new state.
  const refresh = () => {
    setFound(undefined);
    onChanged();
  };
  const list = /** @type {any} */ ({ data: { rows: [found] }, refresh });
  return html`<${Card} title="Find a leaked key">
    <form class="with-button" ...${form}>
      <${Field} label="Whole key" type="password" autocomplete="off" spellcheck="false" required value=${text}
        onValue=${setText} hint="The page sends it in the body of a request. The service does not store it." />
      <button type="submit">Find</button>
    </form>
    <div role="status" class="stack">
      ${error && html`<${ErrorNotice} error=${error} title="Could not find the key" />`}
      ${found && html`<${KeyTable} list=${list} caption="The key that was found" empty="" />`}
    </div>
  <//>`;
}

/**
 * Keys, with what an admin can do with each.
 * @param {{ list: import('./list.js').List, caption: string, isOfAccount?: boolean, empty: string }} props
 */
export function KeyTable({ list, isOfAccount = false, ...rest }) {
  const isAdmin = useIsAdmin();
  /** @type {import('../shared/table.js').Columns<import('./schema.d.ts').Key>} */
  const columns = [
    { name: 'Key', isName: true, cell: (key) => html`<${KeyName} ...${key} />` },
    !isOfAccount && ACCOUNT,
    { name: 'State', cell: (key) => html`<${State} ...${key} />` },
    { name: 'Scopes', cell: ({ scopes }) => html`<span class="scopes">${scopes.join(' ')}</span>` },
    { name: 'Created', cell: ({ createdAt }) => html`<${Day} at=${createdAt} />` },
    {
      name: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt ? html`<${Time} at=${lastUsedAt} isRelative />` : 'never'),
    },
    { name: 'Expires', cell: ({ expiresAt }) => (expiresAt ? html`<${Day} at=${expiresAt} />` : 'never') },
    isAdmin && { name: '', cell: (key) => html`<${KeyActions} apiKey=${key} onChanged=${list.refresh} />` },
  ];
  return html`<${ListTable} list=${list} columns=${columns} ...${rest} />`;
}

/** @param {import('./schema.d.ts').Key} props */
function State({ state, bannedUntil }) {
  return html`<${KeyState} state=${state} />
    ${bannedUntil && html` <${Badge} kind="bad">banned<//>`}`;
}

/** Rotates and revokes a key that is in force. @param {{ apiKey: import('./schema.d.ts').Key, onChanged: () => void }} props */
function KeyActions({ apiKey, onChanged }) {
  const [open, setOpen] = useState('');
  const dialog = { apiKey, onClose: () => setOpen(''), onChanged };
  if (!['active', 'rotated'].includes(apiKey.state)) return null;
  const name = html`<span class="hidden-text"> key ${apiKey.id}</span>`;
  return html`<div class="row-actions">
    ${
      apiKey.state === 'active' &&
      html`<button type="button" onClick=${() => setOpen('rotate')}>Rotate${name}</button>`
    }
    <button type="button" class="danger" onClick=${() => setOpen('revoke')}>Revoke${name}</button>
    ${open === 'rotate' && html`<${RotateKey} ...${dialog} />`}
    ${open === 'revoke' && html`<${RevokeKey} ...${dialog} />`}
  </div>`;
}

/** @param {{ apiKey: import('./schema.d.ts').Key, onClose: () => void, onChanged: () => void }} props */
function RotateKey({ apiKey, onClose, onChanged }) {
  const [grace, setGrace] = useState(DEFAULT_GRACE);
  const [issued, setIssued] = useState(
    /** @type {import('./schema.d.ts').IssuedKey | undefined} */ (undefined),
  );
  const done = () => {
    onChanged();
    onClose();
  };
  if (issued)
    return html`<${SecretDialog} title="The new key" secret=${issued.key} onClose=${done}>
      <p>It has the label, scopes and expiry of key ${apiKey.id}.</p>
    <//>`;
  const rotate = async () =>
    setIssued(await change('POST', `/keys/${apiKey.id}/rotate`, { grace: Number(grace) }));
  return html`<${FormDialog} title="Rotate key" submit="Rotate" onClose=${onClose} onSubmit=${rotate}>
    <p><${KeyName} ...${apiKey} /></p>
    <p>This creates a new key with the same settings. Replace the old key in programs before it ends.</p>
    <${GraceField} value=${grace} onValue=${setGrace} />
  <//>`;
}

/** @param {{ apiKey: import('./schema.d.ts').Key, onClose: () => void, onChanged: () => void }} props */
function RevokeKey({ apiKey, ...dialog }) {
  const { data } = useList(withQuery('/webhooks', { keyId: String(apiKey.id), limit: 100 }));
  const webhooks = /** @type {readonly import('./schema.d.ts').Webhook[]} */ (data?.rows ?? []);
  return html`<${Confirm} title="Revoke key" submit="Revoke" isDangerous request=${['DELETE', `/keys/${apiKey.id}`]}
    done="Key ${apiKey.id} is revoked." ...${dialog}>
    <p><${KeyName} ...${apiKey} /></p>
    <p>Within 5 seconds, every instance refuses this key for good. This cannot be undone.</p>
    ${
      webhooks.length > 0 &&
      html`<p>The webhooks that it added or last pointed somewhere stay as they are:</p>
        <ul>${webhooks.map(({ id, url, enabled }) => html`<li key=${id}>${id}: <${Name} text=${url} />${enabled ? '' : ' (disabled)'}</li>`)}</ul>`
    }
  <//>`;
}

/** @param {{ accountId: string, onClose: () => void, onCreated: () => void }} props */
export function CreateKey({ accountId, onClose, onCreated }) {
  const [label, setLabel] = useState('');
  const [scopes, setScopes] = useState(DEFAULT_SCOPES);
  const [expires, setExpires] = useState('');
  const [issued, setIssued] = useState(
    /** @type {import('./schema.d.ts').IssuedKey | undefined} */ (undefined),
  );
  if (issued)
    return html`<${SecretDialog} title="Key ${issued.id}" secret=${issued.key} onClose=${onClose} />`;
  async function create() {
    const expiresAt = instantOf(expires);
    setIssued(
      await change('POST', `/accounts/${accountId}/keys`, {
        scopes,
        ...(label === '' ? {} : { label }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      }),
    );
    onCreated();
  }
  return html`<${FormDialog} title="Create key" submit="Create key" onClose=${onClose} onSubmit=${create}>
    <${Field} label="Label" maxlength="100" autocomplete="off" value=${label} onValue=${setLabel}
      hint="Where the key is used, such as “price board”. Optional." />
    <${ScopesField} scopes=${SCOPES} chosen=${scopes} onChosen=${setScopes} />
    <${UtcField} label="Expires (UTC)" hint="Without a date, the key does not expire." value=${expires} onValue=${setExpires} />
  <//>`;
}
