import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog.js';
import { Notice } from '../shared/notice.js';
import { LinkForm } from './link-form.js';

/** Says that the session ended, and signs in again on the same page. Waiting requests are then sent again. */
export function SessionEnded() {
  const [isOpen, setIsOpen] = useState(true);
  const hide = () => setIsOpen(false);
  if (isOpen)
    return html`<${Dialog} title="Your session has ended" onClose=${hide}>
      <p>
        The page keeps everything that you typed. Get a link with <code>petstore console</code>, and open it in another tab or
        paste it here. Then you can continue.
      </p>
      <${LinkForm}><button type="button" onClick=${hide}>Later</button><//>
    <//>`;
  return html`<${Notice} kind="warn" title="Your session has ended">
    <p>The page shows its last data. To change something, sign in again.</p>
    <div><button type="button" onClick=${() => setIsOpen(true)}>Sign in again</button></div>
  <//>`;
}
