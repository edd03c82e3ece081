import { ApiError } from '../shared/fetch.js';

/** A secret of a sign-in link: 43 characters of base64url. */
const SECRET = /^[\w-]{43}$/;

const INCOMPLETE = {
  code: 'invalid_link',
  message:
    'This link is incomplete: the part after the # has 43 letters, digits, - and _. Copy the whole link.',
};

/**
 * Takes the secret of a sign-in link out of the address, so that neither the history nor a copied address has it.
 * @returns {string} empty if there is none
 */
export function takeLink() {
  const secret = location.hash.slice(1);
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return secret;
}

/** The secret in a pasted text: a whole link, or only the part after the #. @param {string} text */
export function secretOf(text) {
  return text.trim().replace(/^[^#]*#/, '');
}

/** Refuses an invalid secret without a request. @param {string} secret @throws {ApiError} */
export function checkSecret(secret) {
  if (!SECRET.test(secret)) throw new ApiError(INCOMPLETE, 400);
}
