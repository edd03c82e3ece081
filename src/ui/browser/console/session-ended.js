import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../dialog.js';
import { Notice } from '../notice.js';
import { LinkForm } from './link-form.js';

/** Says that the session ended, and signs in again on the same page. What waits for it goes on by itself. */
export function SessionEnded() {
  const [isOpen, setIsOpen] = useState(true);
  const hide = () => setIsOpen(false);
  if (isOpen)
    return html`<${Dialog} title="Your session has ended" onClose=${hide}>
      <p>
        All that you typed is still here. Get a link with <code>petstore console</code>, and open it in another tab or
        paste it here. Then the page goes on where it was.
      </p>
      <${LinkForm}><button type="button" onClick=${hide}>Later</button><//>
    <//>`;
  return html`<${Notice} kind="warn" title="Your session has ended">
    <p>The page shows what it had before, and cannot change anything.</p>
    <div><button type="button" onClick=${() => setIsOpen(true)}>Sign in again</button></div>
  <//>`;
}
