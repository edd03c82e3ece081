import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { PET_STATUSES } from '../../resources/pets/rules.ts';
import { FormDialog } from '../shared/dialog.js';
import { Field } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Name } from '../shared/table.js';
import { change } from './api.js';
import { CategoryField } from './catalogue.js';
import { Confirm } from './page.js';
import { asChoice } from './fields.js';

/** @typedef {import('./schema.d.ts').Pet} Pet */
/** @typedef {{ name: string, categoryId: string, status: string }} Typed what a form of an animal holds */
/** @typedef {{ categories: readonly import('./schema.d.ts').Category[] }} WithCategories */

/** @type {Typed} */
const NEW_ANIMAL = { name: '', categoryId: '', status: 'available' };

/** @param {Pet} animal @returns {Typed} */
function toFields({ name, categoryId, status = /** @type {any} */ ('') }) {
  return { name, categoryId: String(categoryId), status };
}

/** @param {WithCategories & { onClose: () => void, onChanged: () => void }} props */
export function AddAnimal({ categories, onClose, onChanged }) {
  const [typed, setTyped] = useState(NEW_ANIMAL);
  async function add() {
    const { name, categoryId, status } = typed;
    const body = { name, categoryId: BigInt(categoryId), ...(status && { status }) };
    /** @type {Pet} */
    const { id } = await change('POST', '/pets', body);
    say(`${name} was added as animal ${id}.`);
    onChanged();
    onClose();
  }
  return html`<${FormDialog} title="Add animal" submit="Add animal" onClose=${onClose} onSubmit=${add}>
    <${AnimalFields} typed=${typed} onTyped=${setTyped} categories=${categories} />
  <//>`;
}

/** Sends only what the operator changed. @param {WithCategories & { animal: Pet, onClose: () => void, onChanged: () => void }} props */
export function ChangeAnimal({ animal, categories, onClose, onChanged }) {
  const before = toFields(animal);
  const [typed, setTyped] = useState(before);
  async function submit() {
    const { name, categoryId, status } = typed;
    const patch = {
      ...(name !== before.name && { name }),
      ...(categoryId !== before.categoryId && { categoryId: BigInt(categoryId) }),
      ...(status !== before.status && { status: status || null }),
    };
    if (Object.keys(patch).length > 0) {
      await change('PATCH', `/pets/${animal.id}`, patch);
      say(`Animal ${animal.id} was changed.`);
    }
    onChanged();
    onClose();
  }
  return html`<${FormDialog} title="Change animal ${animal.id}" submit="Save" onClose=${onClose} onSubmit=${submit}>
    <${AnimalFields} typed=${typed} onTyped=${setTyped} categories=${categories} />
  <//>`;
}

/** @param {WithCategories & { typed: Typed, onTyped: (typed: Typed) => void }} props */
function AnimalFields({ typed, onTyped, categories }) {
  const set = (/** @type {Partial<Typed>} */ values) => onTyped({ ...typed, ...values });
  return html`
    <${Field} label="Name" required maxlength="200" autocomplete="off" value=${typed.name}
      onValue=${(/** @type {string} */ name) => set({ name })} />
    <${CategoryField} required categories=${categories} id=${typed.categoryId}
      onId=${(/** @type {string} */ categoryId) => set({ categoryId })} />
    <${Field} label="Status" value=${typed.status} choices=${[...PET_STATUSES.map(asChoice), { value: '', text: 'None' }]}
      onValue=${(/** @type {string} */ status) => set({ status })} />
  `;
}

/** @param {{ animal: Pet, onClose: () => void, onChanged: () => void }} props */
export function DeleteAnimal({ animal: { id, name }, ...dialog }) {
  return html`<${Confirm} title="Delete animal ${id}" submit="Delete" isDangerous request=${['DELETE', `/pets/${id}`]}
    done="Animal ${id} is deleted." ...${dialog}>
    <p><b><${Name} text=${name} /></b></p>
    <p>It is deleted for good, and its id is never used again. Its orders stay.</p>
  <//>`;
}
