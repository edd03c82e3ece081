import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { Brand } from '../shared/brand.js';
import { Notice } from '../shared/notice.js';
import { Status } from '../shared/status.js';
import { useSubmit } from '../shared/submit.js';
import { LinkFault, LinkForm } from './link-form.js';
import { takeLink } from './link.js';
import { navigate } from './router.js';
import { signIn, useSession } from './session.js';

/**
 * The page that signs in. A link opens it with the secret after the #. The link is used up by a button, because mail
 * programs and messengers also open links.
 * @param {{ secret: string }} props
 */
export function SignIn({ secret }) {
  const { isLeft } = useSession();
  const [link, setLink] = useState(secret);
  useEffect(() => {
    document.title = 'Sign in – Pet Store console';
    const onHash = () => setLink((last) => takeLink() || last);
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  return html`<main id="content" class="sign-in">
    <div class="card">
      <${Brand} href="/" />
      <h1>Sign in to the console</h1>
      ${isLeft && html`<${Notice} kind="good" title="You are signed out." />`}
      ${link === '' ? html`<${LinkForm} onSignedIn=${enter} />` : html`<${LinkButton} key=${link} link=${link} />`}
      <div class="stack muted">
        <p>A link signs in once, within 10 minutes. Run this command where the service runs to get a new one:</p>
        <code class="secret">petstore console --as NAME</code>
      </div>
    </div>
    <${Status} />
  </main>`;
}

/** @param {{ link: string }} props */
function LinkButton({ link }) {
  const { error, isBusy, submit } = useSubmit(async () => {
    await signIn(link);
    enter();
  });
  if (error) return html`<${LinkFault} error=${error} /><${LinkForm} onSignedIn=${enter} />`;
  return html`<p>Your sign-in link is ready.</p>
    <button type="button" class="main" disabled=${isBusy} onClick=${submit}>Sign in</button>`;
}

/** Shows the page of the address. */
function enter() {
  const { pathname, search } = location;
  navigate(pathname === '/sign-in' ? '/' : pathname + search, { replace: true });
}
