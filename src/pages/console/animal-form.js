import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { PetStoreError } from '../../../client/src/errors.ts';
import { FIELD_NAMES, LABELS, PET_STATUSES, SEXES, SIZES } from '../../resources/pets/rules.ts';
import { FormDialog } from '../shared/dialog.js';
import { Field } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Name } from '../shared/table.js';
import { change } from './api.js';
import { CategoryField } from './catalogue.js';
import { Confirm } from './page.js';
import { asChoice } from './fields.js';

/** @typedef {import('./schema.d.ts').Pet} Pet */
/** @typedef {import('../../resources/pets/rules.ts').FieldName} FieldName */
/** @typedef {Readonly<Record<FieldName, string>>} Typed what a form of an animal holds; a list has a line for each item */
/** @typedef {Readonly<Partial<Record<FieldName, string>>>} Issues what the service says is wrong */
/** @typedef {{ categories: readonly import('./schema.d.ts').Category[] }} WithCategories */

/** @type {ReadonlySet<FieldName>} */
const LISTS = new Set(['photoUrls', 'tags']);

/** @param {Partial<Pet>} animal @returns {Typed} */
function toTyped(animal) {
  const entries = FIELD_NAMES.map((name) => {
    const { [name]: value = '' } = animal;
    return [name, typeof value === 'object' ? value.join('\n') : String(value)];
  });
  return Object.fromEntries(entries);
}

/** What a request says of a field; null for none. @param {FieldName} name @param {string} text */
function readField(name, text) {
  if (name === 'categoryId') return BigInt(text);
  if (text.trim() === '') return null;
  return LISTS.has(name) ? readLines(text) : text;
}

/** @param {string} text */
const readLines = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * The fields that an error of the service is about. A message has a part for each: `tags.0 must …; breed must …`.
 * @param {PetStoreError} error @returns {Issues}
 */
function readIssues({ status, message }) {
  if (status === 409) return { [message.includes('reference') ? 'reference' : 'status']: message };
  if (status !== 400) return {};
  /** @type {Partial<Record<FieldName, string>>} */
  const issues = {};
  for (const part of message.replace(/\.$/, '').split('; ')) {
    const [, field = '', item, issue] = /^(\w+)(?:\.(\d+))? (.+)$/.exec(part) ?? [];
    const name = FIELD_NAMES.find((each) => each === field);
    if (name === undefined) continue;
    const about = item === undefined ? 'It' : `Line ${Number(item) + 1}`;
    issues[name] = `${issues[name] === undefined ? '' : `${issues[name]} `}${about} ${issue}.`;
  }
  return issues;
}

/**
 * What a form holds, and what the service refused of it.
 * @param {Typed} before
 */
function useTyped(before) {
  const [typed, setTyped] = useState(before);
  const [issues, setIssues] = useState(/** @type {Issues} */ ({}));
  const fields = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const wrong = fields.current?.querySelector('[aria-invalid]');
    if (wrong instanceof HTMLElement) wrong.focus();
  }, [issues]);
  /** Shows an error of the service at its fields, too. @param {() => Promise<void>} work */
  const send = async (work) => {
    setIssues({});
    try {
      await work();
    } catch (error) {
      if (error instanceof PetStoreError) setIssues(readIssues(error));
      throw error;
    }
  };
  return { typed, send, props: { typed, issues, fields, onTyped: setTyped } };
}

/** @param {WithCategories & { onClose: () => void, onChanged: () => void }} props */
export function AddAnimal({ categories, onClose, onChanged }) {
  const { typed, send, props } = useTyped(toTyped({ status: 'available' }));
  const add = () =>
    send(async () => {
      const values = FIELD_NAMES.map((name) => [name, readField(name, typed[name])]);
      /** @type {Pet} */
      const { id } = await change(
        'POST',
        '/pets',
        Object.fromEntries(values.filter(([, value]) => value !== null)),
      );
      say(`${typed.name} was added as animal ${id}.`);
      onChanged();
      onClose();
    });
  return html`<${FormDialog} title="Add animal" submit="Add animal" onClose=${onClose} onSubmit=${add}>
    <${AnimalFields} categories=${categories} ...${props} />
  <//>`;
}

/** Sends only what the operator changed. @param {WithCategories & { animal: Pet, onClose: () => void, onChanged: () => void }} props */
export function ChangeAnimal({ animal, categories, onClose, onChanged }) {
  const before = toTyped(animal);
  const { typed, send, props } = useTyped(before);
  const submit = () =>
    send(async () => {
      const changed = FIELD_NAMES.filter((name) => typed[name] !== before[name]);
      if (changed.length > 0) {
        const values = changed.map((name) => [name, readField(name, typed[name])]);
        await change('PATCH', `/pets/${animal.id}`, Object.fromEntries(values));
        say(`Animal ${animal.id} was changed.`);
      }
      onChanged();
      onClose();
    });
  return html`<${FormDialog} title="Change animal ${animal.id}" submit="Save" onClose=${onClose} onSubmit=${submit}>
    <${AnimalFields} categories=${categories} ...${props} />
  <//>`;
}

/** @param {readonly string[]} words */
const choicesOf = (words) => [...words.map(asChoice), { value: '', text: 'None' }];

/**
 * How each field besides name, category and status is typed.
 * @type {readonly (readonly [keyof typeof LABELS, Record<string, unknown>])[]}
 */
const DETAILS = [
  ['breed', {}],
  ['sex', { choices: choicesOf(SEXES) }],
  ['size', { choices: choicesOf(SIZES) }],
  ['color', {}],
  ['birthDate', { type: 'date' }],
  ['reference', { hint: "The owner's own number of the animal." }],
  ['tags', { isLong: true, rows: 3, hint: 'One a line, at most 20.' }],
  ['photoUrls', { isLong: true, rows: 3, hint: 'One https address a line, at most 10.' }],
  ['description', { isLong: true, rows: 3 }],
];

/**
 * @param {WithCategories & {
 *   typed: Typed, issues: Issues, fields: import('preact').RefObject<HTMLElement>, onTyped: (typed: Typed) => void,
 * }} props
 */
function AnimalFields({ typed, issues, fields, onTyped, categories }) {
  const take = (/** @type {FieldName} */ name) => ({
    value: typed[name],
    issue: issues[name],
    onValue: (/** @type {string} */ text) => onTyped({ ...typed, [name]: text }),
  });
  const { value: categoryId, onValue: onId, issue } = take('categoryId');
  return html`<div ref=${fields} class="stack">
    <${Field} label="Name" required maxlength="200" autocomplete="off" ...${take('name')} />
    <${CategoryField} required categories=${categories} id=${categoryId} onId=${onId} issue=${issue} />
    <${Field} label="Status" choices=${choicesOf(PET_STATUSES)} ...${take('status')} />
    ${DETAILS.map(
      ([name, attributes]) =>
        html`<${Field} label=${LABELS[name]} autocomplete="off" ...${attributes} ...${take(name)} />`,
    )}
  </div>`;
}

/** @param {{ animal: Pet, onClose: () => void, onChanged: () => void }} props */
export function DeleteAnimal({ animal: { id, name }, ...dialog }) {
  return html`<${Confirm} title="Delete animal ${id}" submit="Delete" isDangerous request=${['DELETE', `/pets/${id}`]}
    done="Animal ${id} is deleted." ...${dialog}>
    <p><b><${Name} text=${name} /></b></p>
    <p>It is deleted for good, and its id is never used again. Its orders stay.</p>
  <//>`;
}
