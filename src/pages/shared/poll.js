import { useEffect, useRef, useState } from 'preact/hooks';
import { PetStoreError } from '../../../client/src/errors.ts';
import { isOutage } from './fetch.js';

/** Seconds. The longest wait after failures without Retry-After. */
const LONGEST_WAIT = 60;

/** Seconds. No ban lasts longer, and a timer of more than 24 days would end at once. */
const LONGEST_RETRY_AFTER = 86_400;

/**
 * The last result of `load`, the error of the latest try, and since when `load` fails.
 * @template T
 * @typedef {{ data?: T, error?: PetStoreError, failingSince?: Date, refresh: () => void }} Polled
 */

/**
 * Calls `load` every `seconds` while the page is visible. After an error it waits longer each time, and at least as
 * long as Retry-After says. After an error that is not temporary it stops until `refresh`. A new `about` starts over.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {number} seconds
 * @param {string} [about] names all that `load` depends on
 * @returns {Polled<T>}
 */
export function usePoll(load, seconds, about = '') {
  const [state, setState] = useState(
    /** @type {{ data?: T, error?: PetStoreError, failingSince?: Date }} */ ({}),
  );
  const latest = useRef({ load, seconds });
  latest.current = { load, seconds };
  const refresh = useRef(() => {});
  useEffect(() => {
    setState({});
    const poll = startPolling(
      (signal) => latest.current.load(signal),
      () => latest.current.seconds,
      (data) => setState({ data }),
      (error) => setState((last) => ({ failingSince: new Date(), ...last, error })),
    );
    refresh.current = poll.refresh;
    return poll.stop;
  }, [about]);
  return { ...state, refresh: () => refresh.current() };
}

/**
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {() => number} pace gives the seconds to the next call
 * @param {(data: T) => void} onData
 * @param {(error: PetStoreError) => void} onError
 */
function startPolling(load, pace, onData, onError) {
  let timer = 0;
  let failures = 0;
  let nextAt = 0;
  let running = new AbortController();
  const schedule = () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(ask, Math.max(0, nextAt - Date.now()));
  };
  const ask = async () => {
    const { signal } = (running = new AbortController());
    nextAt = Number.POSITIVE_INFINITY;
    let wait = 0;
    try {
      const data = await load(signal);
      if (signal.aborted) return;
      failures = 0;
      wait = pace();
      onData(data);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof PetStoreError)) throw error;
      failures += 1;
      const retryIn = ((error.retryAt?.getTime() ?? 0) - Date.now()) / 1000;
      const isTemporary = isOutage(error) || error.status === 429;
      wait = isTemporary
        ? Math.max(Math.min(LONGEST_RETRY_AFTER, retryIn), Math.min(LONGEST_WAIT, 2 ** failures))
        : Number.POSITIVE_INFINITY;
      onError(error);
    }
    nextAt = Date.now() + wait * 1000;
    if (Number.isFinite(nextAt)) schedule();
  };
  const refresh = () => {
    running.abort();
    nextAt = 0;
    schedule();
  };
  document.addEventListener('visibilitychange', onVisible);
  function onVisible() {
    if (document.hidden) clearTimeout(timer);
    else if (Number.isFinite(nextAt)) schedule();
  }
  schedule();
  const stop = () => {
    clearTimeout(timer);
    running.abort();
    document.removeEventListener('visibilitychange', onVisible);
  };
  return { refresh, stop };
}
