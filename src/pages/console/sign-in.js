import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog.js';
import { explain } from '../shared/fetch.js';
import { Field, useSubmit } from '../shared/forms.js';
import { Brand, Status } from '../shared/frame.js';
import { Notice } from '../shared/notice.js';
import { navigate } from './router.js';
import { readSecret, signIn, signInWithPasskey, takeLink, useSession } from './session.js';
import { whyNoPasskeys } from './webauthn.js';

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
      ${link === '' ? html`<${SignInForm} onSignedIn=${enter} />` : html`<${LinkButton} key=${link} link=${link} />`}
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
  if (error) return html`<${SignInErrorNotice} error=${error} /><${SignInForm} onSignedIn=${enter} />`;
  return html`<p>Your sign-in link is ready.</p>
    <button type="button" class="main" disabled=${isBusy} onClick=${submit}>Sign in</button>`;
}

/** Shows the page of the address. */
function enter() {
  const { pathname, search } = location;
  navigate(pathname === '/sign-in' ? '/' : pathname + search, { replace: true });
}

/** @typedef {{ onSignedIn?: () => void, children?: import('preact').ComponentChildren }} SignInProps `children` are more buttons */

/** Signs in with a passkey, or with a pasted link. @param {SignInProps} props */
function SignInForm(props) {
  if (whyNoPasskeys() !== undefined) return html`<${LinkForm} submitKind="main" ...${props} />`;
  return html`<${PasskeyButton} onSignedIn=${props.onSignedIn} />
    <p class="or"><span>or</span></p>
    <${LinkForm} ...${props} />`;
}

/** @param {SignInProps} props */
function PasskeyButton({ onSignedIn }) {
  const { error, isBusy, submit } = useSubmit(async () => {
    await signInWithPasskey();
    onSignedIn?.();
  });
  return html`${error && html`<${SignInErrorNotice} error=${error} />`}
    <button type="button" class="main" disabled=${isBusy} onClick=${submit}>Sign in with a passkey</button>`;
}

/**
 * Signs in with a pasted link. The field hides it, and is empty after each try.
 * @param {SignInProps & { submitKind?: 'main' }} props
 */
function LinkForm({ onSignedIn, submitKind, children }) {
  const [text, setText] = useState('');
  const { error, isBusy, form } = useSubmit(async () => {
    setText('');
    await signIn(readSecret(text));
    onSignedIn?.();
  });
  return html`<form class="stack" ...${form}>
    <${Field} label="Sign-in link" type="password" autocomplete="off" spellcheck="false" required value=${text}
      onValue=${setText} hint="The whole address that petstore console printed." />
    ${error && html`<${SignInErrorNotice} error=${error} />`}
    <div class="actions">${children}<button type="submit" class=${submitKind} disabled=${isBusy}>Sign in</button></div>
  </form>`;
}

/** @param {{ error: import('../shared/fetch.js').PetStoreError }} props */
function SignInErrorNotice({ error }) {
  return html`<${Notice} kind="bad" title="You are not signed in"><p>${explain(error)}</p><//>`;
}

/** Says that the session ended, and signs in again on the same page. Waiting requests are then sent again. */
export function SessionEnded() {
  const [isOpen, setIsOpen] = useState(true);
  const hide = () => setIsOpen(false);
  if (isOpen)
    return html`<${Dialog} title="Your session has ended" onClose=${hide}>
      <p>
        The page keeps everything that you typed. Sign in again, or get a link with <code>petstore console</code>, and open it
        in another tab or paste it here. Then you can continue.
      </p>
      <${SignInForm}><button type="button" onClick=${hide}>Later</button><//>
    <//>`;
  return html`<${Notice} kind="warn" title="Your session has ended">
    <p>The page shows its last data. To change something, sign in again.</p>
    <div><button type="button" onClick=${() => setIsOpen(true)}>Sign in again</button></div>
  <//>`;
}
