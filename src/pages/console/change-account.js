import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { ApiError } from '../shared/fetch.js';
import { say } from '../shared/status.js';
import { AccountFields, typedOf } from './account-fields.js';
import { accountPatch, differs } from './account-patch.js';
import { change, get } from './api.js';
import { Conflict } from './conflict.js';

/**
 * Changes name, plan and limits. If somebody else changed the account, it shows both values, and the operator decides.
 * @param {{ account: any, onClose: () => void, onChanged: () => void }} props
 */
export function ChangeAccount({ account, onClose, onChanged }) {
  const [typed, setTyped] = useState(() => typedOf(account));
  const [base, setBase] = useState(() => typedOf(account));
  const [isConflict, setIsConflict] = useState(false);
  const path = `/accounts/${account.id}`;
  async function submit() {
    const patch = accountPatch(base, typed);
    if (patch !== undefined) {
      try {
        await change('PATCH', path, patch);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'conflict') throw error;
        const now = typedOf(await get(path));
        // The account is as expected, so the conflict is about something else: the name is taken.
        if (!differs(base, now)) throw error;
        setBase(now);
        setIsConflict(true);
        return;
      }
      say(`The account ${typed.name} was changed.`);
    }
    onChanged();
    onClose();
  }
  const take = () => {
    setTyped(base);
    setIsConflict(false);
  };
  return html`<${FormDialog} title="Change account" submit=${isConflict ? 'Overwrite with mine' : 'Save'}
    isDangerous=${isConflict} onClose=${onClose} onSubmit=${submit}>
    ${isConflict && html`<${Conflict} now=${base} mine=${typed} onTake=${take} />`}
    <${AccountFields} typed=${typed} onTyped=${setTyped} />
  <//>`;
}
