import { html } from 'htm/preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Fault } from './notice.js';
import { useSubmit } from './submit.js';

/** @typedef {import('preact').ComponentChildren} Children */

/**
 * A modal dialog. Render it only while it is open; it calls `onClose` on Escape.
 * @param {{ title: string, onClose: () => void, children: Children }} props
 */
export function Dialog({ title, onClose, children }) {
  const id = useId();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // Only a dialog that is closed gives the focus back, and one that is no longer rendered does not close.
    return () => opener instanceof HTMLElement && opener.focus();
  }, []);
  return html`<dialog ref=${dialog} aria-labelledby=${id} onClose=${onClose}>
    <div class="stack"><h2 id=${id}>${title}</h2>${children}</div>
  </dialog>`;
}

/**
 * A dialog with a form that makes one change. If the change fails, it stays open and keeps what the user typed.
 * @param {{
 *   title: string, submit: string, isDangerous?: boolean, onClose: () => void, onSubmit: () => Promise<void>,
 *   children?: Children,
 * }} props
 */
export function FormDialog({ title, submit, isDangerous = false, onClose, onSubmit, children }) {
  const { error, isBusy, submit: send } = useSubmit(onSubmit);
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form class="stack" onSubmit=${send}>
      ${children}
      ${error && html`<${Fault} error=${error} />`}
      <div class="actions">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class=${isDangerous ? 'danger' : 'main'} disabled=${isBusy}>${submit}</button>
      </div>
    </form>
  <//>`;
}
