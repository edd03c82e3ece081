import { html, render } from 'htm/preact';
import { useState } from 'preact/hooks';
import { tabKey } from '../shared/key.js';
import { AccountPage } from './account.js';
import { openAccount } from './api.js';
import { SignIn } from './sign-in.js';

/** The account of the tab's key, from before a reload or from the reference. It may be any text that was typed there. */
function openStored() {
  const key = tabKey.read();
  try {
    return key === '' ? undefined : openAccount(key);
  } catch {
    tabKey.write('');
    return undefined;
  }
}

function Dashboard() {
  const [account, setAccount] = useState(openStored);
  const open = (/** @type {string} */ key) => {
    tabKey.write(key);
    setAccount(openAccount(key));
  };
  if (account === undefined) return html`<${SignIn} onKey=${open} />`;
  return html`<${AccountPage} account=${account} onLeave=${leave} onRotated=${open} />`;
}

/** Drops the key. The reload drops it from the memory of the page, too. */
function leave() {
  tabKey.write('');
  location.reload();
}

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no element #app for the dashboard.');
render(html`<${Dashboard} />`, root);
