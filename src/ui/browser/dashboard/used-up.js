import { html } from 'htm/preact';
import { duration, local, number, utc } from '../format.js';
import { Notice } from '../notice.js';

/** @typedef {import('./api.js').Window} Window */

/**
 * A notice for each window that is used up now, from the same numbers as its card.
 * @param {{ minute: Window, day: Window, now: Date }} props
 */
export function UsedUp({ minute, day, now }) {
  return [
    { ...minute, unit: 'minute' },
    { ...day, unit: 'day' },
  ].map(({ limit, remaining, reset, unit }) => {
    const seconds = reset - now.getTime() / 1000;
    if (remaining > 0 || seconds <= 0) return null;
    const end = new Date(reset * 1000);
    return html`<${Notice} key=${unit} kind="warn" title="The limit of this ${unit} is used up">
      <p title=${local(end)}>
        All ${number(limit)} requests are made. The service refuses more until <strong>${utc(end)}</strong>, in ${duration(seconds)}.
        ${' '}<a href="reference#tag/backing-off">How to wait</a>
      </p>
    <//>`;
  });
}
