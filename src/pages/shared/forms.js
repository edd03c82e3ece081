import { html } from 'htm/preact';
import { useId, useState } from 'preact/hooks';
import { PetStoreError } from '../../../client/src/errors.ts';
import { SCOPE_USES } from '../../domain/scope.ts';

/** @typedef {import('../../domain/scope.ts').Scope} Scope */

/**
 * A labelled input. Other properties go to the `input`, or to the `select` if there are `choices`, or to the `textarea`.
 * @param {{
 *   label: string, value: string, onValue: (value: string) => void, hint?: string | undefined, issue?: string | undefined,
 *   choices?: readonly { value: string, text: string }[], isLong?: boolean, [attribute: string]: unknown,
 * }} props `isLong`: a text of several lines; `issue`: what is wrong with the value, instead of the hint
 */
export function Field({ label, value, onValue, hint, issue, choices, isLong = false, ...rest }) {
  const id = useId();
  const onInput = (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
    onValue(currentTarget.value);
  const more = issue ?? hint;
  const attributes = {
    ...rest,
    id,
    value,
    onInput,
    'aria-describedby': more && `${id}-more`,
    'aria-invalid': issue === undefined ? undefined : 'true',
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${
      choices === undefined
        ? html`<${isLong ? 'textarea' : 'input'} ...${attributes} />`
        : html`<select ...${attributes}>
          ${choices.map((each) => html`<option value=${each.value}>${each.text}</option>`)}
        </select>`
    }
    ${more && html`<span id="${id}-more" class=${issue === undefined ? 'muted' : 'issue'}>${more}</span>`}
  </div>`;
}

/** @param {{ label: string, hint?: string | undefined, checked: boolean, onValue: (checked: boolean) => void }} props */
export function Check({ label, hint, checked, onValue }) {
  const id = useId();
  const onChange = (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
    onValue(currentTarget.checked);
  return html`<div>
    <label class="check">
      <input type="checkbox" checked=${checked} onChange=${onChange} aria-describedby=${hint && id} />${label}
    </label>
    ${hint && html`<p id=${id} class="check-hint">${hint}</p>`}
  </div>`;
}

/** Seconds that the old key still works after a rotation. */
const GRACES = [
  { value: '0', text: 'no time' },
  { value: '3600', text: '1 hour' },
  { value: '86400', text: '1 day' },
  { value: '604800', text: '7 days' },
  { value: '2592000', text: '30 days' },
];

export const DEFAULT_GRACE = '86400';

/** @param {{ value: string, onValue: (seconds: string) => void }} props */
export function GraceField(props) {
  return html`<${Field} label="The old key still works for" choices=${GRACES} ...${props} />`;
}

/**
 * The scopes of a key, each with what it is for.
 * @param {{ scopes: readonly Scope[], chosen: readonly Scope[], onChosen: (chosen: Scope[]) => void }} props `scopes` can be chosen
 */
export function ScopesField({ scopes, ...rest }) {
  return html`<${ChecksField} legend="Scopes" choices=${scopes} hints=${SCOPE_USES} ...${rest} />`;
}

/**
 * Some of several words, such as the types of events.
 * @template {string} Word
 * @param {{
 *   legend: string, choices: readonly Word[], chosen: readonly Word[], onChosen: (chosen: Word[]) => void, hint?: string,
 *   hints?: Readonly<Partial<Record<Word, string>>>,
 * }} props `hints` say what the words mean
 */
export function ChecksField({ legend, choices, chosen, onChosen, hint, hints }) {
  const choose = (/** @type {Word} */ word, /** @type {boolean} */ isChosen) =>
    onChosen(choices.filter((other) => (other === word ? isChosen : chosen.includes(other))));
  return html`<fieldset class="field">
    <legend>${legend}</legend>
    ${hint && html`<span class="muted">${hint}</span>`}
    <div class="checks">${choices.map(
      (word) =>
        html`<${Check} label=${word} hint=${hints?.[word]} checked=${chosen.includes(word)}
          onValue=${(/** @type {boolean} */ isChosen) => choose(word, isChosen)} />`,
    )}</div>
  </fieldset>`;
}

/** A date and time in UTC. @param {any} props as those of Field */
export function UtcField(props) {
  return html`<${Field} type="datetime-local" ...${props} />`;
}

/** The instant of such a field; undefined while it is empty. @param {string} value */
export const instantOf = (value) => (value === '' ? undefined : new Date(`${value}Z`).toISOString());

/** What such a field shows of an instant. @param {string | null} instant */
export const fieldOf = (instant) => (instant ?? '').slice(0, 16);

/**
 * Does `work` when a form is submitted. Its error stays until the next try, or until the user changes a field of the form.
 * @param {() => Promise<void>} work
 */
export function useSubmit(work) {
  const [error, setError] = useState(/** @type {PetStoreError | undefined} */ (undefined));
  const [isBusy, setIsBusy] = useState(false);
  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    setError(undefined);
    setIsBusy(true);
    try {
      await work();
    } catch (thrown) {
      if (!(thrown instanceof PetStoreError)) throw thrown;
      setError(thrown);
    }
    setIsBusy(false);
  }
  return { error, isBusy, submit, form: { onSubmit: submit, onInput: () => setError(undefined) } };
}
