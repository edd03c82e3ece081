import { html, render } from 'htm/preact';
import { useState } from 'preact/hooks';
import { AccountPage } from './account.js';
import { accountApi } from './api.js';
import { SignIn } from './sign-in.js';

/** Only the closure of `api` holds the key, until the page closes. */
function Dashboard() {
  const [api, setApi] = useState(/** @type {import('./api.js').AccountApi | undefined} */ (undefined));
  const goOn = (/** @type {string} */ key) => setApi(accountApi(key));
  if (api !== undefined)
    return html`<${AccountPage} api=${api} onLeave=${() => setApi(undefined)} onRotated=${goOn} />`;
  return html`<${SignIn} open=${accountApi} onOpen=${setApi} />`;
}

const place = document.getElementById('app');
if (place === null) throw new Error('The page has no place for the dashboard.');
render(html`<${Dashboard} />`, place);
