import { html } from 'htm/preact';
import { useId } from 'preact/hooks';

/**
 * A labelled input. Other properties go to the `input`, or to the `select` if there are `choices`.
 * @param {{
 *   label: string, value: string, onValue: (value: string) => void, hint?: string | undefined,
 *   choices?: readonly { value: string, text: string }[], [attribute: string]: unknown,
 * }} props
 */
export function Field({ label, value, onValue, hint, choices, ...rest }) {
  const id = useId();
  const onInput = (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
    onValue(currentTarget.value);
  const its = { ...rest, id, value, onInput, 'aria-describedby': hint && `${id}-more` };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${
      choices === undefined
        ? html`<input ...${its} />`
        : html`<select ...${its}>
          ${choices.map((each) => html`<option value=${each.value}>${each.text}</option>`)}
        </select>`
    }
    ${hint && html`<span id="${id}-more" class="muted">${hint}</span>`}
  </div>`;
}

/** @param {{ label: string, checked: boolean, onValue: (checked: boolean) => void }} props */
export function Check({ label, checked, onValue }) {
  const onChange = (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget }) =>
    onValue(currentTarget.checked);
  return html`<label class="check">
    <input type="checkbox" checked=${checked} onChange=${onChange} />${label}
  </label>`;
}
