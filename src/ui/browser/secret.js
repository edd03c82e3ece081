import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.js';

/**
 * Shows a new key, token or link. The page forgets it when the dialog closes, so Escape closes it only after a copy.
 * @param {{ title: string, secret: string, onClose: () => void, children?: import('preact').ComponentChildren }} props
 */
export function SecretDialog({ title, secret, onClose, children }) {
  const [isCopied, setIsCopied] = useState(/** @type {boolean | undefined} */ (undefined));
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    );
  return html`<${Dialog} title=${title} staysOpen=${!isCopied} onClose=${onClose}>
    <p>Store it now. It is shown only once.</p>
    <code class="secret">${secret}</code>
    ${children}
    <p role="status">
      ${isCopied === true && 'Copied.'}
      ${isCopied === false && 'The browser did not allow the page to copy. Select the text and copy it.'}
    </p>
    <div class="actions">
      <button type="button" onClick=${copy}>Copy</button>
      <button type="button" class="main" onClick=${onClose}>I have stored it</button>
    </div>
  <//>`;
}
