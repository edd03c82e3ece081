import { html } from 'htm/preact';
import { Status } from './status.js';

const ICON = new URL('icon.svg', import.meta.url).href;

/** @typedef {import('preact').ComponentChildren} Children */

/**
 * The frame of every page: the header with navigation, the content, and short messages.
 * @param {{
 *   brand: string, home: string, links?: readonly { href: string, text: string, isCurrent?: boolean }[], aside?: Children,
 *   children: Children,
 * }} props
 */
export function Layout({ brand, home, links = [], aside, children }) {
  return html`
    <a class="skip" href="#content">Go to the content</a>
    <header class="top"><div>
      <a class="brand" href=${home}><img src=${ICON} width="24" height="24" alt="" />${brand}</a>
      ${
        links.length > 0 &&
        html`<nav aria-label="Pages">
          ${links.map(
            ({ href, text, isCurrent }) =>
              html`<a href=${href} aria-current=${isCurrent ? 'page' : undefined}>${text}</a>`,
          )}
        </nav>`
      }
      ${aside && html`<aside aria-label="Session">${aside}</aside>`}
    </div></header>
    <main id="content" tabindex="-1">${children}</main>
    <${Status} />
  `;
}
