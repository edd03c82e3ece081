import MiniSearch from 'minisearch';
import { WORDS } from './search-words.js';

/** @typedef {{ id: string, kind: keyof typeof WEIGHTS, title: string, address: string, text: string, words: string }} Entry a part of the page that can be found */

/** A page that explains a word comes before the fields that have it in their name. */
const WEIGHTS = { Guide: 3, Error: 2, Operation: 1.5, Schema: 1, Field: 0.5 };

const MOST_HITS = 30;

/** Characters of a text around its first hit. */
const EXCERPT = 140;

/** @param {Element | null | undefined} element */
const readText = (element) =>
  element instanceof HTMLElement ? element.innerText.replaceAll(/\s+/g, ' ').trim() : '';

/** The attributes of an answer are those of its schema, which is found itself. */
const TEXTS = '.prose, .fields:not(.attributes .fields), .errors';

/** Pages of the guide, operations, schemas, fields and error codes, as the page shows them. @param {Element} content @returns {Entry[]} */
function readEntries(content) {
  const entries = Array.from(
    content.querySelectorAll('section[id]'),
    /** @returns {Entry} */ (section) => {
      const isOperation = section.classList.contains('operation');
      const kind = isOperation ? 'Operation' : section.classList.contains('schema') ? 'Schema' : 'Guide';
      const texts = Array.from(section.querySelectorAll(TEXTS), readText);
      return {
        id: section.id,
        kind,
        title: readText(section.querySelector('h2')),
        address: Array.from(section.querySelectorAll('.address > :is(.method, code)'), readText).join(' '),
        text: texts.join(' '),
        words: WORDS[section.id] ?? '',
      };
    },
  );
  const fields = Array.from(
    content.querySelectorAll('dt[id]'),
    /** @returns {Entry} */ (term) => ({
      id: term.id,
      kind: 'Field',
      title: term.id,
      address: '',
      text: readText(term.nextElementSibling),
      words: WORDS[term.id] ?? '',
    }),
  );
  const codes = Array.from(
    content.querySelectorAll('#errors tbody tr'),
    /** @returns {Entry} */ (row) => ({
      id: 'errors',
      kind: 'Error',
      title: `${readText(row.children[0])} ${readText(row.children[1])}`,
      address: '',
      text: readText(row.children[2]),
      words: '',
    }),
  );
  return [...entries, ...fields, ...codes];
}

/** @param {Entry[]} entries */
function index(entries) {
  const search = new MiniSearch({
    fields: ['title', 'address', 'text', 'words'],
    idField: 'number',
    searchOptions: {
      boost: { title: 4, words: 2 },
      boostDocument: (number) => WEIGHTS[entries[number]?.kind ?? 'Schema'],
      prefix: true,
      combineWith: 'AND',
    },
    // `Order.petId` is found by `order`, `petid` and `pet`.
    tokenize: (text) =>
      text.split(/[^\p{L}\p{N}_.]+/u).flatMap((word) => {
        const names = word.split(/[._]/);
        return [word].concat(
          names,
          names.flatMap((name) => name.split(/(?<=[a-z])(?=[A-Z])/)),
        );
      }),
  });
  search.addAll(entries.map((entry, number) => ({ ...entry, number })));
  return search;
}

/** `RegExp.escape` is missing in browsers before 2025. @param {string} text */
const escapeRegExp = (text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

/** Text in which what was found is marked. @param {string} text @param {readonly string[]} terms */
function markTerms(text, terms) {
  const words = terms.map(escapeRegExp).toSorted((one, other) => other.length - one.length);
  if (words.length === 0) return [text];
  return text.split(new RegExp(`(${words.join('|')})`, 'gi')).map((part, position) => {
    if (position % 2 === 0) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
}

/** @param {string} text @param {readonly string[]} terms */
function cutExcerpt(text, terms) {
  const lower = text.toLowerCase();
  const found = terms.map((term) => lower.indexOf(term.toLowerCase())).filter((at) => at >= 0);
  const start = found.length === 0 ? 0 : Math.max(0, Math.min(...found) - 40);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + EXCERPT)}${start + EXCERPT < text.length ? '…' : ''}`;
}

/** @param {HTMLButtonElement} button @param {HTMLElement} content */
export function startSearch(button, content) {
  const dialog = document.createElement('dialog');
  dialog.className = 'search';
  dialog.innerHTML =
    '<form method="dialog"><label class="hidden-text" for="query">Search the reference</label><input id="query" type="search" placeholder="Operations, guide, fields, error codes" autocomplete="off" spellcheck="false" aria-controls="hits"><button>Close</button></form><p role="status" class="muted"></p><ol id="hits"></ol>';
  document.body.append(dialog);
  const [input, status, list] = ['input', '[role=status]', 'ol'].map((name) => dialog.querySelector(name));
  if (!(input instanceof HTMLInputElement) || !status || !list) throw new Error('The search is incomplete.');

  /** @type {{ entries: Entry[], search: MiniSearch } | undefined} */
  let made;
  const show = () => {
    // Made when it is needed first, because it takes longer than everything else here.
    made ??= ((entries) => ({ entries, search: index(entries) }))(readEntries(content));
    const { entries, search } = made;
    const exact = search.search(input.value);
    // What is only similar is for words that nothing has.
    const hits = (exact.length > 0 ? exact : search.search(input.value, { fuzzy: 0.2 })).slice(0, MOST_HITS);
    status.textContent =
      input.value.trim() === ''
        ? ''
        : hits.length === 0
          ? `Nothing has all of these words: ${input.value.trim()}`
          : `${hits.length === MOST_HITS ? `The first ${MOST_HITS}` : hits.length} found`;
    list.replaceChildren(
      ...hits.flatMap((hit) => {
        const entry = entries[hit.id];
        if (entry === undefined) return [];
        const link = document.createElement('a');
        link.href = `#${entry.id}`;
        const [kind, title, address, text] = ['small', 'strong', 'code', 'span'].map((tag) =>
          document.createElement(tag),
        );
        kind?.append(entry.kind);
        title?.append(...markTerms(entry.title, hit.terms));
        address?.append(...markTerms(entry.address, hit.terms));
        text?.append(...markTerms(cutExcerpt(entry.text, hit.terms), hit.terms));
        link.append(...[kind, title, address, text].filter((part) => part !== undefined));
        const item = document.createElement('li');
        item.append(link);
        return [item];
      }),
    );
  };
  const open = () => {
    dialog.showModal();
    input.select();
    show();
  };
  button.addEventListener('click', open);
  input.addEventListener('input', show);
  list.addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link === null) return;
    dialog.close();
    // The jump, which comes after this event, takes the focus away.
    requestAnimationFrame(() => {
      const heading = document.getElementById(link.hash.slice(1))?.closest('section')?.querySelector('h2 a');
      if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
    });
  });
  // Enter opens the first one, and the arrows go through all.
  dialog.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')];
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    const next = { ArrowDown: links[at + 1], ArrowUp: links[at - 1] ?? input }[event.key];
    if (event.key === 'Enter' && document.activeElement === input) {
      links[0]?.click();
      event.preventDefault();
    } else if (next) {
      next.focus();
      event.preventDefault();
    }
  });
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
    const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (dialog.open || !(isShortcut || (event.key === '/' && !isTyping))) return;
    event.preventDefault();
    open();
  });
}
