import { html } from 'htm/preact';
import { number } from '../shared/format.js';
import { Notice } from '../shared/notice.js';
import { Name } from '../shared/table.js';
import { bodyOf } from './account-fields.js';

/** @typedef {import('./account-fields.js').Typed} Typed */

const ROWS = /** @type {const} */ ([
  ['name', 'Name'],
  ['plan', 'Plan'],
  ['perMinute', 'Per minute'],
  ['perDay', 'Per day'],
]);

/**
 * The current values of the account beside those that the operator typed.
 * @param {{ now: Typed, mine: Typed, onTake: () => void }} props
 */
export function Conflict({ now, mine, onTake }) {
  const [its, typed] = [shown(now), shown(mine)];
  const rows = ROWS.filter(([name]) => its[name] !== typed[name]);
  return html`<${Notice} kind="bad" title="Somebody else changed this account">
    ${
      rows.length === 0
        ? html`<p>The account already has your values.</p>`
        : html`<table>
            <thead><tr><td></td><th scope="col">Now</th><th scope="col">Yours</th></tr></thead>
            <tbody>${rows.map(
              ([name, text]) =>
                html`<tr><th scope="row">${text}</th>
                  <td><${Name} text=${its[name]} /></td><td><${Name} text=${typed[name]} /></td></tr>`,
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
  return { name, plan, perMinute: limit(perMinute), perDay: limit(perDay) };
}
