import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { LIMIT_MAX, PLANS } from '../../domain/plan.ts';
import { ConflictError } from '../../../client/src/errors.ts';
import { FormDialog } from '../shared/dialog.js';
import { number } from '../shared/format.js';
import { Field } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Notice } from '../shared/notice.js';
import { Name } from '../shared/table.js';
import { change, get } from './api.js';
import { Confirm } from './page.js';
import { asChoice } from './fields.js';

/**
 * Changes name, plan, limits and note. If somebody else changed the account, it shows both values, and the operator decides.
 * @param {{ account: import('./schema.d.ts').AccountDetails, onClose: () => void, onChanged: () => void }} props
 */
export function ChangeAccount({ account, onClose, onChanged }) {
  const [typed, setTyped] = useState(() => toFields(account));
  const [base, setBase] = useState(() => toFields(account));
  const [isConflict, setIsConflict] = useState(false);
  const path = `/accounts/${account.id}`;
  async function submit() {
    const patch = accountPatch(base, typed);
    if (patch !== undefined) {
      try {
        await change('PATCH', path, patch);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        const now = toFields(await get(path));
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

/** @typedef {{ name: string, plan: keyof typeof PLANS, perMinute: string, perDay: string, note: string }} Typed what a form of an account holds */

/** @type {Typed} */
export const NEW_ACCOUNT = { name: '', plan: 'free', perMinute: '', perDay: '', note: '' };

/** The values of an account as a form shows them. @param {import('./schema.d.ts').Account} account @returns {Typed} */
function toFields({ name, plan, limits, note = '' }) {
  return { name, plan, perMinute: String(limits.perMinute), perDay: String(limits.perDay), note };
}

/** Name, plan and limits as they go to the service: only Enterprise takes limits of its own. @param {Typed} typed */
export function bodyOf({ name, plan, perMinute, perDay }) {
  const limits = { perMinute: Number(perMinute), perDay: Number(perDay) };
  return { name, plan, ...(PLANS[plan] === 'custom' ? limits : {}) };
}

/** @param {{ typed: Typed, onTyped: (typed: Typed) => void }} props */
export function AccountFields({ typed, onTyped }) {
  const set = (/** @type {Partial<Typed>} */ values) => onTyped({ ...typed, ...values });
  const limits = PLANS[typed.plan];
  const fixed = limits === 'custom' ? undefined : limits;
  const hint = fixed && `${number(fixed.perMinute)} requests per minute, ${number(fixed.perDay)} per day`;
  const limit = { type: 'number', min: 1, max: LIMIT_MAX, step: 1, required: true, inputmode: 'numeric' };
  return html`
    <${Field} label="Name" required maxlength="100" autocomplete="off" value=${typed.name}
      onValue=${(/** @type {string} */ name) => set({ name })} />
    <${Field} label="Plan" value=${typed.plan} hint=${hint} choices=${Object.keys(PLANS).map(asChoice)}
      onValue=${(/** @type {keyof typeof PLANS} */ plan) => set({ plan })} />
    ${
      fixed === undefined &&
      html`
        <${Field} label="Requests per minute" ...${limit} value=${typed.perMinute}
          onValue=${(/** @type {string} */ perMinute) => set({ perMinute })} />
        <${Field} label="Requests per day" ...${limit} value=${typed.perDay}
          onValue=${(/** @type {string} */ perDay) => set({ perDay })} />
      `
    }
    <${Field} label="Note" isLong maxlength="500" value=${typed.note} hint="For operators only: a contact, an agreement. Optional."
      onValue=${(/** @type {string} */ note) => set({ note })} />
  `;
}

/** Whether two forms of an account differ. @param {Typed} one @param {Typed} other */
function differs(one, other) {
  return JSON.stringify(typedValues(one)) !== JSON.stringify(typedValues(other));
}

/**
 * The change from the values that the operator saw to those typed, if the account still has the values seen.
 * A plan and its limits change together. Undefined: there is nothing to change.
 * @param {Typed} base @param {Typed} typed
 */
function accountPatch(base, typed) {
  const { name, ...rest } = bodyOf(typed);
  const { note } = typed;
  const isRenamed = name !== base.name;
  const isNoted = note !== base.note;
  const isOtherPlan = differs({ ...base, name, note }, typed);
  if (!isRenamed && !isNoted && !isOtherPlan) return undefined;
  const { name: oldName, note: oldNote, ...old } = typedValues(base);
  return {
    ...(isRenamed ? { name } : {}),
    ...(isNoted ? { note } : {}),
    ...(isOtherPlan ? rest : {}),
    expected: {
      ...(isRenamed ? { name: oldName } : {}),
      ...(isNoted ? { note: oldNote } : {}),
      ...(isOtherPlan ? old : {}),
    },
  };
}

/** @param {Typed} typed */
function typedValues(typed) {
  const { name, plan, note } = typed;
  return { ...bodyOf(typed), name, plan, note };
}

const ROWS = /** @type {const} */ ([
  ['name', 'Name'],
  ['plan', 'Plan'],
  ['perMinute', 'Per minute'],
  ['perDay', 'Per day'],
  ['note', 'Note'],
]);

/**
 * The current values of the account beside those that the operator typed.
 * @param {{ now: Typed, mine: Typed, onTake: () => void }} props
 */
function Conflict({ now, mine, onTake }) {
  const [current, typed] = [shown(now), shown(mine)];
  const rows = ROWS.filter(([name]) => current[name] !== typed[name]);
  return html`<${Notice} kind="bad" title="Somebody else changed this account">
    ${
      rows.length === 0
        ? html`<p>The account already has your values.</p>`
        : html`<table>
            <thead><tr><td></td><th scope="col">Now</th><th scope="col">Yours</th></tr></thead>
            <tbody>${rows.map(
              ([name, text]) =>
                html`<tr><th scope="row">${text}</th>
                  <td><${Name} text=${current[name]} /></td><td><${Name} text=${typed[name]} /></td></tr>`,
            )}</tbody>
          </table>
          <div class="actions"><button type="button" onClick=${onTake}>Use the current values</button></div>`
    }
  <//>`;
}

/** @param {Typed} typed */
function shown(typed) {
  const { name, plan, perMinute, perDay } = { perMinute: undefined, perDay: undefined, ...bodyOf(typed) };
  const limit = (/** @type {number | undefined} */ value) =>
    value === undefined ? 'of the plan' : number(value);
  return { name, plan, perMinute: limit(perMinute), perDay: limit(perDay), note: typed.note || 'none' };
}

/** Suspends an account, or resumes it. @param {{ account: import('./schema.d.ts').AccountDetails, onClose: () => void, onChanged: () => void }} props */
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
