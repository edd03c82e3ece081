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
 * }} props an empty `id` stands for no category
 */
export function CategoryField({ categories, id, onId, ...rest }) {
  const list = useId();
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [typed, setTyped] = useState(/** @type {string | undefined} */ (undefined));
  const chosen = categories.find((category) => String(category.id) === id);
  const isUnknown = typed !== undefined && typed.trim() !== '' && readCategory(typed, categories) === '';
  useEffect(() => {
    // It was changed elsewhere, for example by "back".
    if (typed !== undefined && readCategory(typed, categories) !== id) setTyped(undefined);
  }, [id]);
  const fault = isUnknown ? 'Choose a category of the list, or type its number.' : '';
  useEffect(() => input.current?.setCustomValidity(fault), [fault]);
  const onValue = (/** @type {string} */ text) => {
    setTyped(text);
    onId(readCategory(text, categories));
  };
  const hint = fault || (id === '' ? undefined : chosen ? `Category ${id}` : 'No category has this number.');
  return html`
    <${Field} label="Category" ref=${input} type="search" maxlength="100" autocomplete="off" placeholder="Name or number"
      list=${list} ...${rest} value=${typed ?? chosen?.name ?? id} onValue=${onValue} hint=${hint} />
    <datalist id=${list}>${categories.map(({ name }) => html`<option value=${name} />`)}</datalist>
  `;
}

/** The id of the category that a text names; empty if there is none. @param {string} text @param {readonly Category[]} categories */
function readCategory(text, categories) {
  const wanted = text.trim().toLowerCase();
  const named = categories.find(({ name }) => name.toLowerCase() === wanted);
  if (named !== undefined) return String(named.id);
  return /^-?\d{1,19}$/.test(wanted) ? wanted : '';
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
