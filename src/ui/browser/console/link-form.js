import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../fetch.js';
import { Field } from '../field.js';
import { Notice } from '../notice.js';
import { linkFault, secretOf } from './link.js';
import { signIn } from './session.js';

/**
 * Signs in with a pasted link. The field hides it, and is empty after each try.
 * @param {{ onSignedIn?: () => void, children?: import('preact').ComponentChildren }} props `children` are more buttons
 */
export function LinkForm({ onSignedIn, children }) {
  const [text, setText] = useState('');
  const { error, isBusy, submit } = useSignIn(onSignedIn);
  /** @param {Event} event */
  const onSubmit = (event) => {
    event.preventDefault();
    setText('');
    void submit(secretOf(text));
  };
  return html`<form class="stack" onSubmit=${onSubmit}>
    <${Field} label="Sign-in link" type="password" autocomplete="off" spellcheck="false" required value=${text}
      onValue=${setText} hint="The whole address that petstore console printed." />
    ${error && html`<${LinkFault} message=${error} />`}
    <div class="actions">${children}<button type="submit" class="main" disabled=${isBusy}>Sign in</button></div>
  </form>`;
}

/** Signs in, and keeps the error. @param {(() => void) | undefined} onSignedIn */
export function useSignIn(onSignedIn) {
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined));
  const [isBusy, setIsBusy] = useState(false);
  /** @param {string} secret */
  async function submit(secret) {
    const fault = linkFault(secret);
    setError(fault);
    if (fault) return;
    setIsBusy(true);
    try {
      await signIn(secret);
      onSignedIn?.();
    } catch (failed) {
      if (!(failed instanceof ApiError)) throw failed;
      setError(failed.message);
    }
    setIsBusy(false);
  }
  return { error, isBusy, submit };
}

/** @param {{ message: string }} props */
export function LinkFault({ message }) {
  return html`<${Notice} kind="bad" title="You are not signed in"><p>${message}</p><//>`;
}
