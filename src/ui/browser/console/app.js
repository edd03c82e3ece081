import { html } from 'htm/preact';
import { Fault, Skeleton } from '../notice.js';
import { usePoll } from '../poll.js';
import { Account } from './account.js';
import { Frame } from './frame.js';
import { NotFound } from './not-found.js';
import { PAGES } from './pages.js';
import { usePlace } from './router.js';
import { SessionEnded } from './session-ended.js';
import { askSession, useSession } from './session.js';
import { SignIn } from './sign-in.js';

/** Seconds between two polls of the session, which can end in another tab. */
const SESSION_CHECK = 60;

/** @param {{ secret: string }} props the secret of the link that opened the page, or an empty text */
export function App({ secret }) {
  const { path } = usePlace();
  return path === '/sign-in' ? html`<${SignIn} secret=${secret} />` : html`<${Inside} path=${path} />`;
}

/** The pages for those who are signed in. @param {{ path: string }} props */
function Inside({ path }) {
  const { state } = useSession();
  const { error, failingSince } = usePoll(askSession, SESSION_CHECK);
  if (state === 'out') return html`<${SignIn} secret="" />`;
  if (state === 'asking')
    return html`<main class="sign-in">
      ${error ? html`<${Fault} error=${error} since=${failingSince} />` : html`<${Skeleton} label="Console" />`}
    </main>`;
  return html`<${Frame} links=${PAGES}>
    ${state === 'ended' && html`<${SessionEnded} />`}
    <${Shown} path=${path} />
  <//>`;
}

/** @param {{ path: string }} props */
function Shown({ path }) {
  const accountId = /^\/accounts\/(\d+)$/.exec(path)?.[1];
  if (accountId !== undefined) return html`<${Account} key=${accountId} id=${accountId} />`;
  const { component = NotFound } = PAGES.find(({ href }) => href === path) ?? {};
  return html`<${component} />`;
}
