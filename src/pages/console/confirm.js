import { html } from 'htm/preact';
import { FormDialog } from '../shared/dialog.js';
import { say } from '../shared/status.js';
import { change } from './api.js';

/**
 * A dialog that asks before one request. Then it says what is done, and closes.
 * @param {{
 *   title: string, submit: string, isDangerous?: boolean, request: Parameters<typeof change>, done: string,
 *   onChanged: () => void, onClose: () => void, children: import('preact').ComponentChildren,
 * }} props
 */
export function Confirm({ request, done, onChanged, ...dialog }) {
  async function confirm() {
    await change(...request);
    say(done);
    onChanged();
    dialog.onClose();
  }
  return html`<${FormDialog} ...${dialog} onSubmit=${confirm} />`;
}
