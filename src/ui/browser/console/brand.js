import { html } from 'htm/preact';

const ICON = new URL('../icon.svg', import.meta.url).href;

/** The name of the service with its icon, as a link to the overview. */
export function Brand() {
  return html`<a class="brand" href="/"><img src=${ICON} width="24" height="24" alt="" />Pet Store</a>`;
}
