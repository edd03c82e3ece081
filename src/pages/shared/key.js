/** The API key of the tab. A reload keeps it, and the end of the tab drops it. */
const NAME = 'petstore-key';

/** @returns {string} empty when there is none */
export function readKey() {
  return sessionStorage.getItem(NAME) ?? '';
}

/** An empty key is forgotten. @param {string} key */
export function storeKey(key) {
  if (key === '') sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
}
