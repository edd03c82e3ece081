import { html } from 'htm/preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { Field } from '../shared/forms.js';
import { usePoll } from '../shared/poll.js';
import { get, withQuery } from './api.js';
import { filterBy, useAddress } from './router.js';

/** Seconds. Names are loaded once for each text. */
const ONCE = Number.POSITIVE_INFINITY;

/** Milliseconds after a key press until the search begins. */
const PAUSE = 200;

/**
 * A field that filters the page by a part of a text, while somebody types.
 * @param {{ label: string, name?: string, hint?: string }} props `name` is that of the filter in the address
 */
export function SearchField({ name = 'search', ...props }) {
  const search = useAddress().query.get(name) ?? '';
  const [text, setText] = useState(search);
  useEffect(() => setText(search), [search]);
  useEffect(() => {
    const timer = setTimeout(() => text !== search && filterBy({ [name]: text }, { isTyped: true }), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<${Field} type="search" maxlength="100" autocomplete="off" spellcheck="false" ...${props}
    value=${text} onValue=${setText} />`;
}

/** A name as the choice of a field: `Enterprise`, `Extra large`. @param {string} name */
export const asChoice = (name) => ({ value: name, text: asWords(name) });

/** A word of the service as people read it. @param {string} name */
export const asWords = (name) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

/**
 * A field that filters the page by one of several values. The first choice, without a value, is all of them.
 * @param {{ label: string, name: string, all?: string, choices: readonly { value: string, text: string }[] }} props
 */
export function ChoiceFilter({ label, name, all = 'All', choices }) {
  const value = useAddress().query.get(name) ?? '';
  return html`<${Field} label=${label} value=${value} choices=${[{ value: '', text: all }, ...choices]}
    onValue=${(/** @type {string} */ chosen) => filterBy({ [name]: chosen })} />`;
}

/**
 * The filters of a page that its address has.
 * @param {readonly string[]} names
 * @returns {Record<string, string | undefined>} undefined without a value
 */
export function useFilters(names) {
  const { query } = useAddress();
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]));
}

/**
 * A field that filters by account. It offers the accounts whose names match. Without the whole name of one, it does not filter.
 * @param {{ id: string | undefined, onId: (id: string) => void }} props an empty `id` stands for all accounts
 */
export function AccountPicker({ id, onId }) {
  const list = useId();
  const [text, setText] = useState('');
  const chosen = usePoll(
    /** @returns {Promise<import('./schema.d.ts').Account | undefined>} */
    async (signal) => (id ? get(`/accounts/${id}`, signal) : undefined),
    ONCE,
    id,
  );
  const offered = usePoll(
    /** @returns {Promise<import('./schema.d.ts').Accounts>} */
    (signal) => get(withQuery('/accounts', { search: text, limit: 20 }), signal),
    ONCE,
    text,
  );
  const name = chosen.data?.name;
  useEffect(() => {
    if (name !== undefined) setText(name);
  }, [name]);
  const found = offered.data?.find((account) => account.name === text);
  useEffect(() => {
    if (found && String(found.id) !== id) onId(String(found.id));
  }, [found?.id]);
  const onValue = (/** @type {string} */ next) => {
    setText(next);
    if (id && next !== name) onId('');
  };
  const isUnknown = text !== '' && offered.data !== undefined && found === undefined && text !== name;
  return html`
    <${Field} label="Account" type="search" maxlength="100" autocomplete="off" list=${list} value=${text} onValue=${onValue}
      hint=${isUnknown ? 'Choose a name from the list. Until then, all accounts are shown.' : undefined} />
    <datalist id=${list}>${offered.data?.map((account) => html`<option value=${account.name} />`)}</datalist>
  `;
}
