import { ApiError, send } from '../fetch.js';
import { checkSecret } from './link.js';
import { observed } from './observed.js';

/** @typedef {{ name: string, role: 'viewer' | 'admin', environment: string, version: string }} Me */
/**
 * `asking`: the service has not said yet whether there is a session. `ended`: there was one, so the page and what was
 * typed stay.
 * @typedef {{ state: 'asking' | 'out' | 'in' | 'ended', me?: Me, isLeft?: boolean }} Session
 */

/** @type {Session} */
const START = { state: 'asking' };

const session = observed(START);
const otherTabs = new BroadcastChannel('session');

export const useSession = () => session.use();

/** Whether the operator may change something. The service refuses it otherwise. */
export const useIsAdmin = () => session.use().me?.role === 'admin';

/** Tells whether an operator is the one who is signed in. @returns {(name: string) => boolean} */
export function useIsMe() {
  const { me } = session.use();
  return (name) => name === me?.name;
}

/** Asks the service who is signed in. @param {AbortSignal} [signal] @throws {ApiError} */
export async function askSession(signal) {
  try {
    const { json } = await send('/admin/v1/me', signal ? { signal } : {});
    session.set({ state: 'in', me: json });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
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

/** @param {string} link the secret of a sign-in link @throws {ApiError} */
export async function signIn(link) {
  checkSecret(link);
  await send('/sign-in', { method: 'POST', body: { link } });
  await askSession();
  otherTabs.postMessage('in');
}

/** @throws {ApiError} */
export async function signOut() {
  await send('/sign-out', { method: 'POST' });
  session.set({ state: 'out', isLeft: true });
}

/** Listens for a sign-in in another tab, perhaps as another operator: all tabs share the cookie. */
export function followOtherTabs() {
  const ask = () => {
    if (session.get().state !== 'asking') askSession().catch(() => {});
  };
  otherTabs.addEventListener('message', ask);
}
