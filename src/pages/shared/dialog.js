import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { copyText } from './clipboard.js';
import { useSubmit } from './forms.js';
import { ErrorNotice } from './notice.js';

/** @typedef {import('preact').ComponentChildren} Children */

/**
 * A modal dialog. Render it only while it is open; it calls `onClose` on Escape, unless it `staysOpen`.
 * @param {{ title: string, staysOpen?: boolean, onClose: () => void, children: Children }} props
 */
export function Dialog({ title, staysOpen = false, onClose, children }) {
  const id = useId();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // Only a dialog that is closed gives the focus back, and one that is no longer rendered does not close.
    return () => opener instanceof HTMLElement && opener.focus();
  }, []);
  // Chromium lets a second Escape close the dialog in spite of `onCancel`, and other browsers may not know `closedby`.
  const onCancel = (/** @type {Event} */ event) => staysOpen && event.preventDefault();
  const closedBy = staysOpen ? 'none' : 'closerequest';
  return html`<dialog ref=${dialog} aria-labelledby=${id} closedby=${closedBy} onCancel=${onCancel} onClose=${onClose}>
    <div class="stack"><h1 id=${id}>${title}</h1>${children}</div>
  </dialog>`;
}

/**
 * A dialog with a form that makes one change. If the change fails, it stays open and keeps what the user typed. Escape
 * does not close it while the change runs, because the answer may have a secret to show.
 * @param {{
 *   title: string, submit: string, back?: string, isDangerous?: boolean, onClose: () => void,
 *   onSubmit: () => Promise<void>, children?: Children,
 * }} props `back` is the label of the button that changes nothing
 */
export function FormDialog({
  title,
  submit,
  back = 'Cancel',
  isDangerous = false,
  onClose,
  onSubmit,
  children,
}) {
  const { error, isBusy, form } = useSubmit(onSubmit);
  return html`<${Dialog} title=${title} staysOpen=${isBusy} onClose=${onClose}>
    <form class="stack" ...${form}>
      ${children}
      ${error && html`<${ErrorNotice} error=${error} title="Could not ${title.charAt(0).toLowerCase()}${title.slice(1)}" />`}
      <div class="actions">
        <button type="button" onClick=${onClose}>${back}</button>
        <button type="submit" class=${isDangerous ? 'danger' : 'main'} disabled=${isBusy}>${submit}</button>
      </div>
    </form>
  <//>`;
}

/**
 * Shows a new key, token or link. The page forgets it when the dialog closes, so Escape closes it only after a copy.
 * @param {{ title: string, secret: string, onClose: () => void, children?: Children }} props
 */
export function SecretDialog({ title, secret, onClose, children }) {
  const [isCopied, setIsCopied] = useState(/** @type {boolean | undefined} */ (undefined));
  const shown = useRef(/** @type {HTMLElement | null} */ (null));
  const copy = async () => shown.current && setIsCopied(await copyText(shown.current));
  return html`<${Dialog} title=${title} staysOpen=${!isCopied} onClose=${onClose}>
    <p>Store it now. It is shown only once.</p>
    <code ref=${shown} class="secret">${secret}</code>
    ${children}
    <p role="status">
      ${isCopied === true && 'Copied.'}
      ${isCopied === false && 'The browser does not let the page copy. The text is selected: copy it.'}
    </p>
    <div class="actions">
      <button type="button" onClick=${copy}>Copy</button>
      <button type="button" class="main" onClick=${onClose}>I have stored it</button>
    </div>
  <//>`;
}
