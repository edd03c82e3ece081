import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Field } from '../shared/forms.js';
import { Badge } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { Name } from '../shared/table.js';
import { getPages } from './api.js';

/* What the pages of the catalogue share: animals and categories by their names. */

/** @typedef {import('./schema.d.ts').Category} Category */

/** Pages of categories that are loaded, 100 each. An animal of another category shows only its number. */
const MOST_PAGES = 10;

/** Seconds. */
const ONCE = Number.POSITIVE_INFINITY;

/** The newest categories; none until they are loaded. @returns {readonly Category[]} */
export function useCategories() {
  const { data } = usePoll((signal) => getPages('/categories?limit=100', MOST_PAGES, signal), ONCE);
  return data?.rows ?? [];
}

/**
 * A field for a category, by its name or its number. It offers the categories.
 * @param {{
 *   categories: readonly Category[], id: string, onId: (id: string) => void, required?: boolean,
 * }} props an empty `id` stands for no category; without `required`, the field filters animals
 */
export function CategoryField({ categories, id, onId, required = false }) {
  const list = useId();
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [typed, setTyped] = useState(/** @type {string | undefined} */ (undefined));
  const chosen = categories.find((category) => String(category.id) === id);
  const isUnknown = typed !== undefined && typed.trim() !== '' && readCategory(typed, categories) === '';
  useEffect(() => {
    // It was changed elsewhere, for example by "back".
    if (typed !== undefined && readCategory(typed, categories) !== id) setTyped(undefined);
  }, [id]);
  const issue = isUnknown ? (required ? WHICH : WHICH_FILTER) : '';
  useEffect(() => input.current?.setCustomValidity(issue), [issue]);
  const onValue = (/** @type {string} */ text) => {
    setTyped(text);
    onId(readCategory(text, categories));
  };
  const hint =
    issue || (id === '' ? undefined : chosen ? nameCategory(chosen, typed) : 'No category has this number.');
  return html`
    <${Field} label="Category" ref=${input} type="search" maxlength="100" autocomplete="off" placeholder="Name or number"
      list=${list} required=${required} value=${typed ?? chosen?.name ?? id} onValue=${onValue} hint=${hint} />
    <datalist id=${list}>${categories.map(({ name }) => html`<option value=${name} />`)}</datalist>
  `;
}

const WHICH = 'Choose a category from the list, or type its number.';
const WHICH_FILTER = 'Choose a category from the list. Until then, all animals are shown.';

/** `Category 3`, with the name if somebody typed another text. @param {Category} category @param {string | undefined} typed */
function nameCategory({ id, name }, typed = name) {
  return typed.trim().toLowerCase() === name.toLowerCase() ? `Category ${id}` : `Category ${id}: ${name}`;
}

/**
 * The id of the category that a text means: its name, its number, or a part of the name that no other has.
 * @param {string} text @param {readonly Category[]} categories @returns {string} empty if there is none
 */
function readCategory(text, categories) {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return '';
  const named = categories.find(({ name }) => name.toLowerCase() === wanted);
  if (named !== undefined) return String(named.id);
  if (/^-?\d{1,19}$/.test(wanted)) return wanted;
  const [match, other] = categories.filter(({ name }) => name.toLowerCase().includes(wanted));
  return match !== undefined && other === undefined ? String(match.id) : '';
}

/**
 * The category of an animal, as a link to its animals.
 * @param {{ categories: readonly Category[], id: import('./schema.d.ts').Int64 }} props
 */
export function CategoryLink({ categories, id }) {
  const name = categories.find((category) => category.id === id)?.name;
  return html`<a href="/animals?categoryId=${id}">${name === undefined ? `category ${id}` : html`<${Name} text=${name} />`}</a>`;
}

const PET_KINDS = /** @type {const} */ ({ available: 'good', pending: 'warn', sold: undefined });

/** The status of an animal, if it has one. @param {Pick<import('./schema.d.ts').Pet, 'status'>} props */
export function PetStatus({ status }) {
  return status === undefined
    ? html`<span class="muted">none</span>`
    : html`<${Badge} kind=${PET_KINDS[status]}>${status}<//>`;
}

/**
 * A field for an id, with a button that filters by it.
 * @param {{ label: string, id: string, onId: (id: string) => void }} props an empty `id` stands for all
 */
export function IdFilter({ label, id, onId }) {
  const [text, setText] = useState(id);
  useEffect(() => setText(id), [id]);
  /** @param {Event} event */
  const find = (event) => {
    event.preventDefault();
    onId(text);
  };
  // The service refuses an id that is too long for 64 bits.
  return html`<form class="with-button" onSubmit=${find}>
    <${Field} label=${label} type="search" inputmode="numeric" pattern="[1-9][0-9]{0,18}" title="A whole number" maxlength="19"
      autocomplete="off" value=${text} onValue=${setText} />
    <button type="submit">Find</button>
  </form>`;
}
