import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Field } from '../shared/forms.js';
import { Badge } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { Name } from '../shared/table.js';
import { get, getPages } from './api.js';

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
 *   categories: readonly Category[], id: string, onId: (id: string) => void, required?: boolean, issue?: string | undefined,
 * }} props an empty `id` stands for no category; without `required`, the field filters animals
 */
export function CategoryField({ categories, id, onId, required = false, issue: refused }) {
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
      list=${list} required=${required} value=${typed ?? chosen?.name ?? id} onValue=${onValue} hint=${hint} issue=${refused} />
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

/** Animals whose names one request reads. */
const NAMES_AT_ONCE = 100;

/**
 * The names of animals by their ids; one that was deleted has none.
 * @param {readonly import('./schema.d.ts').Int64[]} ids
 * @returns {ReadonlyMap<import('./schema.d.ts').Int64, string>}
 */
export function useAnimalNames(ids) {
  const wanted = [...new Set(ids)];
  const known = useRef(/** @type {ReadonlyMap<import('./schema.d.ts').Int64, string>} */ (new Map()));
  const { data } = usePoll(
    async (signal) => {
      const names = new Map();
      for (let start = 0; start < wanted.length; start += NAMES_AT_ONCE) {
        const query = wanted.slice(start, start + NAMES_AT_ONCE).map((id) => `id=${id}`);
        for (const { id, name } of await get(`/pets?limit=${NAMES_AT_ONCE}&${query.join('&')}`, signal))
          names.set(id, name);
      }
      return names;
    },
    ONCE,
    wanted.join(),
  );
  // While the names of more rows load, those before stay.
  if (data !== undefined) known.current = data;
  return known.current;
}

/** An animal as a link to its page, by its name if it is known. @param {{ id: import('./schema.d.ts').Int64, name: string | undefined }} props */
export function AnimalLink({ id, name }) {
  const link = html`<a class=${name === undefined ? 'fixed' : undefined} href="/animals/${id}">${
    name === undefined ? `animal ${id}` : html`<${Name} text=${name} />`
  }</a>`;
  return name === undefined ? link : html`${link} <span class="muted fixed">animal ${id}</span>`;
}

/**
 * A field with a button that filters by its whole text.
 * @param {{ label: string, text: string, onText: (text: string) => void, [attribute: string]: unknown }} props an empty
 *   `text` stands for all
 */
export function FindField({ label, text, onText, ...attributes }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  /** @param {Event} event */
  const find = (event) => {
    event.preventDefault();
    onText(typed);
  };
  return html`<form class="with-button" onSubmit=${find}>
    <${Field} label=${label} type="search" autocomplete="off" ...${attributes} value=${typed} onValue=${setTyped} />
    <button type="submit" aria-label="Find by ${label.charAt(0).toLowerCase()}${label.slice(1)}">Find</button>
  </form>`;
}

/** Such a field for an id. The service refuses one that is too long for 64 bits. @param {{ label: string, id: string, onId: (id: string) => void }} props */
export function IdFilter({ label, id, onId }) {
  return html`<${FindField} label=${label} inputmode="numeric" pattern="[1-9][0-9]{0,18}" title="A whole number"
    maxlength="19" text=${id} onText=${onId} />`;
}

/**
 * What can be done with a row, in a menu, so that a list is no column of buttons.
 * @param {{ about: string, actions: readonly (readonly [verb: string, act: () => void, kind?: string])[] }} props
 *   `about`: what the row shows, `animal 42`
 */
export function RowMenu({ about, actions }) {
  const id = useId();
  const menu = useRef(/** @type {HTMLElement | null} */ (null));
  // Closed first, because the focus goes back to the button, where a dialog finds it.
  const choose = (/** @type {() => void} */ act) => {
    menu.current?.hidePopover();
    act();
  };
  return html`<div class="row-actions">
    <button type="button" popovertarget=${id} aria-label="Actions for ${about}">⋯</button>
    <div ref=${menu} id=${id} popover class="row-menu">${actions.map(
      ([verb, act, kind]) =>
        html`<button type="button" class=${kind} onClick=${() => choose(act)}>
          ${verb}<span class="hidden-text"> ${about}</span>
        </button>`,
    )}</div>
  </div>`;
}
