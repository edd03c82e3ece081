import { useState } from 'preact/hooks';
import { ApiError } from './fetch.js';

/**
 * Does `work` when a form is submitted. Its error stays until the next try, or until the user changes a field of the form.
 * @param {() => Promise<void>} work
 */
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
  return { error, isBusy, submit, form: { onSubmit: submit, onInput: () => setError(undefined) } };
}
