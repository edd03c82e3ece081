import { html, render } from 'htm/preact';
import { useState } from 'preact/hooks';
import { AccountPage } from './account.js';
import { openAccount } from './api.js';
import { SignIn } from './sign-in.js';

/** Only the client of the account holds the key. A reload forgets it. */
function Dashboard() {
  const [account, setAccount] = useState(
    /** @type {import('./api.js').OpenAccount | undefined} */ (undefined),
  );
  const goOn = (/** @type {string} */ key) => setAccount(openAccount(key));
  if (account === undefined) return html`<${SignIn} onOpen=${setAccount} />`;
  return html`<${AccountPage} account=${account} onLeave=${() => location.reload()} onRotated=${goOn} />`;
}

const place = document.getElementById('app');
if (place === null) throw new Error('The page has no place for the dashboard.');
render(html`<${Dashboard} />`, place);
