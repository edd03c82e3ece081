import { ApiError, send } from '../fetch.js';
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

/** Waits until somebody signs in again. @param {AbortSignal} [signal] @returns {Promise<void>} */
export function signedInAgain(signal) {
  endSession();
  return new Promise((resolve, reject) => {
    const stop = session.follow(() => {
      if (session.get().state !== 'in') return;
      stop();
      resolve();
    });
    signal?.addEventListener('abort', () => {
      stop();
      reject(signal.reason);
    });
  });
}

/** @param {string} link the secret of a sign-in link @throws {ApiError} */
export async function signIn(link) {
  await send('/sign-in', { method: 'POST', body: { link } });
  await askSession();
  otherTabs.postMessage('in');
}

/** @throws {ApiError} */
export async function signOut() {
  await send('/sign-out', { method: 'POST' });
  session.set({ state: 'out', isLeft: true });
}

/** Listens for a sign-in in another tab. */
export function followOtherTabs() {
  const ask = () => {
    if (['out', 'ended'].includes(session.get().state)) askSession().catch(() => {});
  };
  otherTabs.addEventListener('message', ask);
}
