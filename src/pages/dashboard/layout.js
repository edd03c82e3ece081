import { html } from 'htm/preact';
import { Brand } from '../shared/brand.js';
import { Status } from '../shared/status.js';

/** @typedef {import('preact').ComponentChildren} Children */

/**
 * The frame of both pages: the header with navigation, the content, and short messages.
 * @param {{ aside?: Children, children: Children }} props
 */
export function Layout({ aside, children }) {
  return html`
    <a class="skip" href="#content">Go to the content</a>
    <header class="top"><div>
      <${Brand} href="reference" />
      <nav aria-label="Pages">
        <a href="dashboard" aria-current="page">Dashboard</a>
        <a href="reference">Reference</a>
      </nav>
      ${aside && html`<aside aria-label="Session">${aside}</aside>`}
    </div></header>
    <main id="content" tabindex="-1">${children}</main>
    <${Status} />
  `;
}
