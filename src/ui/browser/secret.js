import { html } from 'htm/preact';
import { Dialog } from './dialog.js';
import { say } from './status.js';

/**
 * Shows a new key, token or link. The page forgets it when the dialog closes.
 * @param {{ title: string, secret: string, onClose: () => void, children?: import('preact').ComponentChildren }} props
 */
export function SecretDialog({ title, secret, onClose, children }) {
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => say('Copied.'),
      () => say('The browser did not allow the page to copy. Select the text and copy it.'),
    );
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p>Store it now. It is shown only once.</p>
    <code class="secret">${secret}</code>
    ${children}
    <div class="actions">
      <button type="button" onClick=${copy}>Copy</button>
      <button type="button" class="main" onClick=${onClose}>Done</button>
    </div>
  <//>`;
}
