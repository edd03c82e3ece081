import { AuthenticationError, ValidationError } from '../../../client/src/errors.ts';
import { send } from '../shared/fetch.js';
import { observed } from './observed.js';
import { signChallenge } from './webauthn.js';

/** @typedef {import('./schema.d.ts').Me} Me */

/**
 * `asking`: the service has not said yet whether there is a session. `ended`: there was one, so the page and what was
 * typed stay.
 * @typedef {{ state: 'asking' | 'out' | 'in' | 'ended', me?: Me, isLeft?: boolean }} Session
 */

/** @type {Session} */
const START = { state: 'asking' };

const session = observed(START);
const otherTabs = openChannel();

/** A browser that keeps nothing for the page may have none. */
function openChannel() {
  try {
    return new BroadcastChannel('session');
  } catch {
    return undefined;
  }
}

export const useSession = () => session.use();

/** Whether the operator may change something. The service refuses it otherwise. */
export const useIsAdmin = () => session.use().me?.role === 'admin';

/** Tells whether an operator is the one who is signed in. @returns {(name: string) => boolean} */
export function useIsMe() {
  const { me } = session.use();
  return (name) => name === me?.name;
}

/** Asks the service who is signed in. @param {AbortSignal} [signal] @throws {PetStoreError} */
export async function askSession(signal) {
  try {
    const { json } = await send('/admin/v1/me', signal ? { signal } : {});
    session.set({ state: 'in', me: json });
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    endSession();
  }
}

function endSession() {
  const { state, me } = session.get();
  if (state === 'asking') session.set({ state: 'out' });
  else if (state === 'in' && me) session.set({ state: 'ended', me });
}

/**
 * Waits until somebody signs in again. Resolves with whether it is the same operator.
 * @param {AbortSignal} [signal] @returns {Promise<boolean>}
 */
export function signedInAgain(signal) {
  endSession();
  const before = session.get().me?.name;
  return new Promise((resolve, reject) => {
    const stop = session.follow(() => {
      const { state, me } = session.get();
      if (state !== 'in') return;
      stop();
      resolve(me?.name === before);
    });
    signal?.addEventListener('abort', () => {
      stop();
      reject(signal.reason);
    });
  });
}

/** @param {string} link the secret of a sign-in link @throws {PetStoreError} */
export async function signIn(link) {
  checkSecret(link);
  await enter({ link });
}

/** Signs in with a passkey that the person chooses. @throws {PetStoreError} */
export async function signInWithPasskey() {
  const { json } = await send('/sign-in/challenge', { method: 'POST' });
  await enter({ passkey: await signChallenge(json) });
}

const NO_COOKIE =
  'The browser keeps no cookies of this address, so the session is lost. Allow them, and sign in again.';

/** @param {object} body */
async function enter(body) {
  await send('/sign-in', { method: 'POST', body });
  await askSession();
  if (session.get().state !== 'in') throw new ValidationError(NO_COOKIE, { status: 401, code: 'no_cookie' });
  otherTabs?.postMessage('in');
}

/** @throws {PetStoreError} */
export async function signOut() {
  await send('/sign-out', { method: 'POST' });
  session.set({ state: 'out', isLeft: true });
}

/** Listens for a sign-in in another tab, perhaps as another operator: all tabs share the cookie. */
export function followOtherTabs() {
  const ask = () => {
    if (session.get().state !== 'asking') askSession().catch(() => {});
  };
  otherTabs?.addEventListener('message', ask);
}

/** A secret of a sign-in link: 43 characters of base64url. */
const SECRET = /^[\w-]{43}$/;

const INCOMPLETE =
  'This link is incomplete: the part after the # has 43 letters, digits, - and _. Copy the whole link.';

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
export function readSecret(text) {
  return text.trim().replace(/^[^#]*#/, '');
}

/** Refuses an invalid secret without a request. @param {string} secret @throws {ValidationError} */
function checkSecret(secret) {
  if (!SECRET.test(secret)) throw new ValidationError(INCOMPLETE, { status: 400, code: 'invalid_link' });
}
