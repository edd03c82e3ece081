import { html } from 'htm/preact';
import { Page } from './page.js';

export function NotFound() {
  return html`<${Page} title="There is no such page">
    <p>The console has no page at this address. <a href="/">Go to the overview.</a></p>
  <//>`;
}
