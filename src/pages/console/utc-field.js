import { html } from 'htm/preact';
import { Field } from '../shared/field.js';

/** A date and time in UTC. @param {any} props as those of Field */
export function UtcField(props) {
  return html`<${Field} type="datetime-local" ...${props} />`;
}

/** The instant of such a field; undefined while it is empty. @param {string} value */
export const instantOf = (value) => (value === '' ? undefined : new Date(`${value}Z`).toISOString());

/** What such a field shows of an instant. @param {string | null} instant */
export const fieldOf = (instant) => (instant ?? '').slice(0, 16);
