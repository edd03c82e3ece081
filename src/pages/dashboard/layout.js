import { html } from 'htm/preact';
import { local, utc } from '../shared/format.js';
import { Brand, Status, ThemeButton } from '../shared/frame.js';
import { ErrorNotice, Notice } from '../shared/notice.js';

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
      <aside aria-label="Tools">${aside}<${ThemeButton} /></aside>
    </div></header>
    <main id="content" tabindex="-1">${children}</main>
    <${Status} />
  `;
}

/**
 * Stands in place of things that the key of the page may not manage.
 * @param {{ title: string, scope: string, uses: string }} props
 */
export function MissingScope({ title, scope, uses }) {
  return html`<section class="card" aria-label=${title}>
    <div class="row"><h2>${title}</h2></div>
    <${Notice} title="This key cannot manage ${title.toLowerCase()}">
      <p>To ${uses} here, use a key with the scope <code>${scope}</code>.</p>
    <//>
  </section>`;
}

/** The titles of errors for a key holder, by their codes. */
const TITLES = new Map([
  ['unauthorized', 'This key does not work'],
  ['insufficient_scope', 'This key is not allowed to do this'],
  ['rate_limit_exceeded', 'This page must wait a moment'],
  ['daily_limit_exceeded', 'This page must wait until the day ends'],
]);

/**
 * An error of a request with a key. A limit has the time at which it ends. It is never one of the plan, because no request of
 * the dashboard counts against the plan.
 * @param {{ error: import('../shared/fetch.js').PetStoreError, failingSince?: Date | undefined }} props
 */
export function KeyErrorNotice({ error, failingSince }) {
  const { code, status, retryAt } = error;
  return html`<${ErrorNotice} error=${error} failingSince=${failingSince} title=${TITLES.get(code ?? '')}>
    ${
      status === 429 &&
      retryAt &&
      html`<p title=${local(retryAt)}>The wait ends at <strong>${utc(retryAt)}</strong>. It does not concern the limits of your plan.</p>`
    }
  <//>`;
}
