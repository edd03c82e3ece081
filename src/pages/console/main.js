import { html, render } from 'htm/preact';
import { ErrorNotice, Skeleton } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { Account } from './account.js';
import { Accounts } from './accounts.js';
import { Animal, Animals } from './animals.js';
import { get } from './api.js';
import { Audit } from './audit.js';
import { Bans } from './bans.js';
import { Categories } from './categories.js';
import { Deprecations } from './deprecations.js';
import { FailedRequestDetails } from './failed-request.js';
import { FailedRequests } from './failed-requests.js';
import { Frame } from './frame.js';
import { Keys } from './keys.js';
import { Operators } from './operators.js';
import { Orders } from './orders.js';
import { Overview } from './overview.js';
import { Page } from './page.js';
import { PAGES, readDetails } from './pages.js';
import { Passkeys } from './passkeys.js';
import { startRouter, useAddress } from './router.js';
import { askSession, followOtherTabs, takeLink, useSession } from './session.js';
import { SessionEnded, SignIn } from './sign-in.js';

/** Seconds between two polls of the session, which can end in another tab. */
const SESSION_CHECK = 60;

/** What each page of the navigation shows. @type {Record<typeof PAGES[number]['href'], () => any>} */
const COMPONENTS = {
  '/': Overview,
  '/animals': Animals,
  '/categories': Categories,
  '/orders': Orders,
  '/accounts': Accounts,
  '/keys': Keys,
  '/bans': Bans,
  '/deprecations': Deprecations,
  '/failed-requests': FailedRequests,
  '/audit': Audit,
  '/operators': Operators,
};

/** The pages of one thing, by the path of its list. */
const ONE = { accounts: Account, animals: Animal, 'failed-requests': FailedRequestDetails };

/** @param {{ secret: string }} props the secret of the link that opened the page, or an empty text */
function App({ secret }) {
  const { path } = useAddress();
  return path === '/sign-in' ? html`<${SignIn} secret=${secret} />` : html`<${Inside} path=${path} />`;
}

/** The pages for those who are signed in. @param {{ path: string }} props */
function Inside({ path }) {
  const { state } = useSession();
  const { error, failingSince } = usePoll(askSession, SESSION_CHECK);
  if (state === 'out') return html`<${SignIn} secret="" />`;
  if (state === 'asking' && error)
    return html`<main class="sign-in"><${ErrorNotice} error=${error} failingSince=${failingSince} /></main>`;
  if (state === 'asking') return html`<${Frame} links=${ALWAYS}><${Skeleton} label="Console" /><//>`;
  return html`<${SignedIn} path=${path} hasEnded=${state === 'ended'} />`;
}

const ALWAYS = PAGES.filter((page) => !('isOptional' in page));

/** Seconds between two looks for rows of the optional pages. Deprecations are a sum over 30 days. */
const BANS_CHECK = 60;
const DEPRECATIONS_CHECK = 600;

/** @param {{ path: string, hasEnded: boolean }} props */
function SignedIn({ path, hasEnded }) {
  const hasRows = {
    '/bans': useHasRows('/bans', BANS_CHECK),
    '/deprecations': useHasRows('/deprecations', DEPRECATIONS_CHECK),
  };
  const links = PAGES.filter((page) => !('isOptional' in page) || hasRows[page.href]);
  return html`<${Frame} links=${links}>
    ${hasEnded && html`<${SessionEnded} />`}
    <${Shown} path=${path} />
  <//>`;
}

/** Whether a list of the admin API has a row. @param {string} path @param {number} seconds */
function useHasRows(path, seconds) {
  const { data } = usePoll(
    /** @returns {Promise<readonly unknown[]>} */ (signal) => get(`${path}?limit=1`, signal),
    seconds,
  );
  return data !== undefined && data.length > 0;
}

/** @param {{ path: string }} props */
function Shown({ path }) {
  const details = readDetails(path);
  if (details !== undefined) return html`<${ONE[details.things]} key=${path} id=${details.id} />`;
  if (path === '/passkeys') return html`<${Passkeys} />`;
  const page = PAGES.find(({ href }) => href === path);
  return html`<${page === undefined ? NotFound : COMPONENTS[page.href]} />`;
}

function NotFound() {
  return html`<${Page} title="There is no such page">
    <p>The console has no page at this address. <a href="/">Go to the overview.</a></p>
  <//>`;
}

const root = document.getElementById('app');
if (root === null) throw new Error('The page has no element #app for the console.');
const secret = takeLink();
startRouter();
followOtherTabs();
render(html`<${App} secret=${secret} />`, root);
