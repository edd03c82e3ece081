import { observed } from './observed.js';

/**
 * `isFirst`: the page was just loaded. `top`: where it was left, in pixels, when "back" leads to it.
 * @typedef {{ path: string, query: URLSearchParams, isFirst: boolean, top: number }} Address
 */

const address = observed(here(true));

/** The address that the page shows. */
export const useAddress = () => address.use();

/** Shows another address of the console. @param {string} to @param {{ replace?: boolean }} [options] */
export function navigate(to, { replace = false } = {}) {
  if (!replace) keepPlace({ top: scrollY });
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  address.set(here(false));
}

/**
 * What "back" finds again of the page that is shown: how far it was scrolled, and how many pages its lists had by their paths.
 * @typedef {{ top?: number, pages?: Readonly<Record<string, number>> }} Place
 * @param {Place} place
 */
export function keepPlace(place) {
  history.replaceState({ ...readPlace(), ...place }, '');
}

/** @returns {Place} */
export const readPlace = () => history.state ?? {};

/**
 * Keeps a filter of the page in its address, so that "back" and a copied address show the same. Each choice is an entry of the
 * history.
 * @param {Record<string, string | undefined>} filters an empty one leaves the address
 * @param {{ isTyped?: boolean }} [options] what is typed replaces the entry
 */
export function filterBy(filters, { isTyped = false } = {}) {
  const { path, query } = address.get();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(filters)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  if (String(next) === String(query)) return;
  navigate(next.size === 0 ? path : `${path}?${next}`, { replace: isTyped });
}

/** Follows links inside the console without loading the page again. */
export function startRouter() {
  addEventListener('popstate', () => address.set({ ...here(false), top: readPlace().top ?? 0 }));
  document.addEventListener('click', (event) => {
    const link = /** @type {Element} */ (event.target).closest('a');
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (!isPlain || event.defaultPrevented || !link?.getAttribute('href')?.startsWith('/')) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

/** @param {boolean} isFirst @returns {Address} */
function here(isFirst) {
  return { path: location.pathname, query: new URLSearchParams(location.search), isFirst, top: 0 };
}
