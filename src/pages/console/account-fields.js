import { html } from 'htm/preact';
import { Field } from '../shared/field.js';
import { number } from '../shared/format.js';
import { PLANS, asChoice } from './terms.js';

/** @typedef {{ name: string, plan: keyof typeof PLANS, perMinute: string, perDay: string }} Typed what a form of an account holds */

/** @type {Typed} */
export const NEW_ACCOUNT = { name: '', plan: 'free', perMinute: '', perDay: '' };

/** The values of an account as a form shows them. @param {any} account @returns {Typed} */
export function typedOf({ name, plan, limits }) {
  return { name, plan, perMinute: String(limits.perMinute), perDay: String(limits.perDay) };
}

/** What goes to the service: only Enterprise takes limits of its own. @param {Typed} typed */
export function bodyOf({ name, plan, perMinute, perDay }) {
  const limits = { perMinute: Number(perMinute), perDay: Number(perDay) };
  return { name, plan, ...(PLANS[plan] === undefined ? limits : {}) };
}

/** @param {{ typed: Typed, onTyped: (typed: Typed) => void }} props */
export function AccountFields({ typed, onTyped }) {
  const set = (/** @type {Partial<Typed>} */ values) => onTyped({ ...typed, ...values });
  const fixed = PLANS[typed.plan];
  const hint = fixed && `${number(fixed.perMinute)} requests per minute, ${number(fixed.perDay)} per day`;
  const limit = { type: 'number', min: 1, max: 1_000_000_000, step: 1, required: true, inputmode: 'numeric' };
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
  `;
}
