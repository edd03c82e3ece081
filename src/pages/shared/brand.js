import { html } from 'htm/preact';

const ICON = new URL('icon.svg', import.meta.url).href;

/** The name of the service with its icon, as a link. @param {{ href: string }} props */
export function Brand({ href }) {
  return html`<a class="brand" href=${href}><img src=${ICON} width="24" height="24" alt="" />Pet Store</a>`;
}
