import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { PetStoreError } from '../../../client/src/errors.ts';
import { explain } from '../shared/fetch.js';
import { Brand, say, Status, ThemeButton } from '../shared/frame.js';
import { Badge, Notice } from '../shared/notice.js';
import { useSilence } from './api.js';
import { useAddress } from './router.js';
import { signOut, useSession } from './session.js';

/**
 * The frame of every page: navigation and session at the side, or on a phone in a menu at the top.
 * @param {{ links: readonly { href: string, text: string }[], children: import('preact').ComponentChildren }} props
 */
export function Frame({ links, children }) {
  const { me } = useSession();
  const { path } = useAddress();
  const [isOpen, setIsOpen] = useState(false);
  const onKeyDown = (/** @type {KeyboardEvent} */ { key }) => key === 'Escape' && setIsOpen(false);
  return html`
    <a class="skip" href="#content">Go to the content</a>
    <div class="console">
      <header class="side" onKeyDown=${onKeyDown}>
        <div class="side-head">
          <${Brand} href="/" />
          ${me && html`<${Badge} kind=${me.environment === 'production' ? 'warn' : 'good'}>${me.environment}<//>`}
          <button type="button" class="menu" aria-expanded=${String(isOpen)} aria-controls="side-menu"
            onClick=${() => setIsOpen(!isOpen)}>Menu</button>
        </div>
        <div id="side-menu" class=${isOpen ? 'side-menu open' : 'side-menu'}>
          <nav aria-label="Pages" onClick=${() => setIsOpen(false)}>${links.map(
            ({ href, text }) =>
              html`<a href=${href} aria-current=${isBelow(path, href) ? 'page' : undefined}>${text}</a>`,
          )}</nav>
          ${
            me &&
            html`<div class="side-session">
              <p><b class="name" title=${me.name}>${me.name}</b><span class="muted">${me.role}, version ${me.version}</span></p>
              <a href="/passkeys" aria-current=${path === '/passkeys' ? 'page' : undefined}
                onClick=${() => setIsOpen(false)}>Your passkeys</a>
              <div class="row"><button type="button" onClick=${leave}>Sign out</button><${ThemeButton} /></div>
            </div>`
          }
        </div>
      </header>
      <main id="content" tabindex="-1"><${Silence} />${children}</main>
    </div>
    <${Status} />
  `;
}

/** Whether `path` belongs to the page of `href`: `/accounts/7` belongs to `/accounts`. @param {string} path @param {string} href */
function isBelow(path, href) {
  return path === href || (href !== '/' && path.startsWith(`${href}/`));
}

async function leave() {
  try {
    await signOut();
  } catch (error) {
    if (!(error instanceof PetStoreError)) throw error;
    say(`You are still signed in. ${explain(error)}`);
  }
}

/** Says since when the service does not answer. */
function Silence() {
  const since = useSilence();
  if (since === undefined) return null;
  const title = `The service has not answered since ${since.toISOString().slice(11, 19)} UTC.`;
  return html`<${Notice} kind="bad" title=${title}>
    <p>The page shows its last data and keeps trying, so you need not reload it.</p>
  <//>`;
}
