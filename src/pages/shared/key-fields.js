import { html } from 'htm/preact';
import { Check, Field } from './field.js';

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
 * The scopes of a new key.
 * @param {{ scopes: readonly string[], chosen: readonly string[], onChosen: (chosen: string[]) => void }} props
 */
export function ScopesField({ scopes, chosen, onChosen }) {
  const choose = (/** @type {string} */ scope, /** @type {boolean} */ isChosen) =>
    onChosen(scopes.filter((its) => (its === scope ? isChosen : chosen.includes(its))));
  return html`<fieldset class="field">
    <legend>Scopes</legend>
    <div class="checks">${scopes.map(
      (scope) =>
        html`<${Check} label=${scope} checked=${chosen.includes(scope)}
          onValue=${(/** @type {boolean} */ isChosen) => choose(scope, isChosen)} />`,
    )}</div>
  </fieldset>`;
}
