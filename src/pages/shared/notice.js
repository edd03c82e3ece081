import { html } from 'htm/preact';
import { explain, isOutage } from './fetch.js';
import { utc } from './format.js';

/** @typedef {import('preact').ComponentChildren} Children */

/** @param {string} name @param {string} [kind] */
const withKind = (name, kind) => (kind === undefined ? name : `${name} ${kind}`);

/**
 * A message in the page. Screen readers read a bad one at once.
 * @param {{ kind?: 'good' | 'warn' | 'bad', title: string, children?: Children }} props
 */
export function Notice({ kind, title, children }) {
  return html`<div class=${withKind('notice', kind)} role=${kind === 'bad' ? 'alert' : 'status'}>
    <strong>${title}</strong>${children}
  </div>`;
}

/** @param {{ kind?: 'good' | 'warn' | 'bad', children: Children }} props */
export function Badge({ kind, children }) {
  return html`<span class=${withKind('badge', kind)}>${children}</span>`;
}

const KEY_STATES = /** @type {const} */ ({
  active: 'good',
  rotated: 'warn',
  expired: undefined,
  revoked: 'bad',
});

/** @param {{ state: keyof typeof KEY_STATES }} props */
export function KeyState({ state }) {
  return html`<${Badge} kind=${KEY_STATES[state]}>${state}<//>`;
}

/** A placeholder while something loads. @param {{ label: string }} props */
export function Skeleton({ label }) {
  return html`<div class="skeleton" role="status"><span class="hidden-text">${label}: loading.</span></div>`;
}

/**
 * An error of a request: the message of the service, and since when it does not answer.
 * @param {{ error: import('./fetch.js').PetStoreError, failingSince?: Date | undefined, title?: string, children?: Children }} props
 */
export function ErrorNotice({ error, failingSince, title, children }) {
  const isDown = isOutage(error);
  const shown = title ?? (isDown ? 'The service does not answer' : 'This could not be loaded');
  return html`<${Notice} kind=${error.status === 429 ? 'warn' : 'bad'} title=${shown}>
    <p>${explain(error)}</p>
    ${children}
    ${isDown && failingSince && html`<p>Since ${utc(failingSince)}. The page keeps trying, so you need not reload it.</p>`}
    ${error.requestId && html`<p class="muted">Request <code>${error.requestId}</code></p>`}
  <//>`;
}
