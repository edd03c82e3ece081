import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Field } from '../field.js';
import { Notice } from '../notice.js';
import { useSubmit } from '../submit.js';
import { secretOf } from './link.js';
import { signIn } from './session.js';

/**
 * Signs in with a pasted link. The field hides it, and is empty after each try.
 * @param {{ onSignedIn?: () => void, children?: import('preact').ComponentChildren }} props `children` are more buttons
 */
export function LinkForm({ onSignedIn, children }) {
  const [text, setText] = useState('');
  const { error, isBusy, form } = useSubmit(async () => {
    setText('');
    await signIn(secretOf(text));
    onSignedIn?.();
  });
  return html`<form class="stack" ...${form}>
    <${Field} label="Sign-in link" type="password" autocomplete="off" spellcheck="false" required value=${text}
      onValue=${setText} hint="The whole address that petstore console printed." />
    ${error && html`<${LinkFault} error=${error} />`}
    <div class="actions">${children}<button type="submit" class="main" disabled=${isBusy}>Sign in</button></div>
  </form>`;
}

/** @param {{ error: Error }} props */
export function LinkFault({ error }) {
  return html`<${Notice} kind="bad" title="You are not signed in"><p>${error.message}</p><//>`;
}
