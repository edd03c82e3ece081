import { html } from 'htm/preact';
import { FormDialog } from '../dialog.js';
import { say } from '../status.js';
import { change } from './api.js';

/** @param {{ account: any, onClose: () => void, onChanged: () => void }} props */
export function SuspendAccount({ account: { id, name, suspendedAt }, onClose, onChanged }) {
  const isSuspended = suspendedAt !== undefined;
  async function submit() {
    await change('PATCH', `/accounts/${id}`, {
      suspended: !isSuspended,
      expected: { suspended: isSuspended },
    });
    say(isSuspended ? `The keys of ${name} work again.` : `All keys of ${name} are refused now.`);
    onChanged();
    onClose();
  }
  const texts = isSuspended
    ? {
        title: 'Resume account',
        submit: 'Resume',
        more: 'Within 5 seconds, its keys work again on every instance.',
      }
    : {
        title: 'Suspend account',
        submit: 'Suspend',
        more: 'Within 5 seconds, every instance refuses all its keys, until an admin resumes the account.',
      };
  return html`<${FormDialog} title=${texts.title} submit=${texts.submit} isDangerous=${!isSuspended} onClose=${onClose}
    onSubmit=${submit}>
    <p><b>${name}</b></p><p>${texts.more}</p>
  <//>`;
}
