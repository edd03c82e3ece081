import { useState } from 'preact/hooks';
import { ApiError } from './fetch.js';

/** Does `work` when a form is submitted, and keeps its error until the next try. @param {() => Promise<void>} work */
export function useSubmit(work) {
  const [error, setError] = useState(/** @type {ApiError | undefined} */ (undefined));
  const [isBusy, setIsBusy] = useState(false);
  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    setError(undefined);
    setIsBusy(true);
    try {
      await work();
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      setError(fault);
    }
    setIsBusy(false);
  }
  return { error, isBusy, submit };
}
