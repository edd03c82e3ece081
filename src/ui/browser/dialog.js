import { html } from 'htm/preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Fault } from './notice.js';
import { useSubmit } from './submit.js';

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
    <div class="stack"><h2 id=${id}>${title}</h2>${children}</div>
  </dialog>`;
}

/**
 * A dialog with a form that makes one change. If the change fails, it stays open and keeps what the user typed. Escape
 * does not close it while the change runs, because the answer may have a secret to show.
 * @param {{
 *   title: string, submit: string, isDangerous?: boolean, onClose: () => void, onSubmit: () => Promise<void>,
 *   children?: Children,
 * }} props
 */
export function FormDialog({ title, submit, isDangerous = false, onClose, onSubmit, children }) {
  const { error, isBusy, form } = useSubmit(onSubmit);
  return html`<${Dialog} title=${title} staysOpen=${isBusy} onClose=${onClose}>
    <form class="stack" ...${form}>
      ${children}
      ${error && html`<${Fault} error=${error} />`}
      <div class="actions">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class=${isDangerous ? 'danger' : 'main'} disabled=${isBusy}>${submit}</button>
      </div>
    </form>
  <//>`;
}
