import { html, render } from 'htm/preact';
import { useState } from 'preact/hooks';
import { readKey, storeKey } from '../shared/key.js';
import { AccountPage } from './account.js';
import { openAccount } from './api.js';
import { SignIn } from './sign-in.js';

/** The account of the tab's key, from before a reload or from the reference. It may be any text that was typed there. */
function openStored() {
  const key = readKey();
  try {
    return key === '' ? undefined : openAccount(key);
  } catch {
    storeKey('');
    return undefined;
  }
}

function Dashboard() {
  const [account, setAccount] = useState(openStored);
  const open = (/** @type {string} */ key) => {
    storeKey(key);
    setAccount(openAccount(key));
  };
  if (account === undefined) return html`<${SignIn} onKey=${open} />`;
  return html`<${AccountPage} account=${account} onLeave=${leave} onRotated=${open} />`;
}

/** Drops the key. The reload drops it from the memory of the page, too. */
function leave() {
  storeKey('');
  location.reload();
}

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no element #app for the dashboard.');
render(html`<${Dashboard} />`, root);
