import { html } from 'htm/preact';
import { Confirm } from './confirm.js';

/** Suspends an account, or resumes it. @param {{ account: any, onClose: () => void, onChanged: () => void }} props */
export function SuspendAccount({ account: { id, name, suspendedAt }, ...dialog }) {
  const suspended = suspendedAt !== undefined;
  const request = ['PATCH', `/accounts/${id}`, { suspended: !suspended, expected: { suspended } }];
  if (suspended)
    return html`<${Confirm} title="Resume account" submit="Resume" request=${request}
      done="The keys of ${name} work again." ...${dialog}>
      <p><b>${name}</b></p>
      <p>Within 5 seconds, its keys work again on every instance.</p>
    <//>`;
  return html`<${Confirm} title="Suspend account" submit="Suspend" isDangerous request=${request}
    done="All keys of ${name} are refused now." ...${dialog}>
    <p><b>${name}</b></p>
    <p>Within 5 seconds, every instance refuses all its keys, until an admin resumes the account.</p>
  <//>`;
}
