import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { say } from '../shared/frame.js';
import { ErrorNotice, Skeleton } from '../shared/notice.js';
import { change } from './api.js';
import { useAddress } from './router.js';

/** @typedef {import('preact').ComponentChildren} Children */

/**
 * A page: its title, its buttons, and its content. The focus moves to the title of a page that opens.
 * @param {{ title: string, badges?: Children, actions?: Children, intro?: string, children: Children }} props
 */
export function Page({ title, badges, actions, intro, children }) {
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  const { path, isFirst, top } = useAddress();
  useEffect(() => {
    document.title = `${title} – Pet Store console`;
  }, [title]);
  useEffect(() => {
    if (isFirst) return;
    heading.current?.focus({ preventScroll: true });
    return scrollBack(top);
  }, [path]);
  return html`
    <div class="page-head">
      <div class="row">
        <h1 ref=${heading} tabindex="-1">${title}</h1>
        ${badges}
        ${actions && html`<div class="row page-actions">${actions}</div>`}
      </div>
      ${intro && html`<p class="muted">${intro}</p>`}
    </div>
    ${children}
  `;
}

/** What shows that somebody scrolls. */
const SCROLLING = ['wheel', 'touchstart', 'pointerdown', 'keydown'];

/**
 * Scrolls to a place, as soon as enough of the page is loaded, unless somebody scrolls before. Returns how to stop it.
 * @param {number} top
 */
function scrollBack(top) {
  scrollTo(0, top);
  const observer = new ResizeObserver(() => {
    scrollTo(0, top);
    if (scrollY >= Math.floor(top)) stop();
  });
  function stop() {
    observer.disconnect();
    for (const type of SCROLLING) removeEventListener(type, stop);
  }
  observer.observe(document.body);
  for (const type of SCROLLING) addEventListener(type, stop);
  return stop;
}

/**
 * Loaded data, or the reason why there is none. After a failure it shows the last data.
 * @template T
 * @param {{ poll: import('../shared/poll.js').Polled<T>, label: string, children: (data: T) => Children }} props
 */
export function Loaded({ poll, label, children }) {
  if (poll.data !== undefined) return children(poll.data);
  if (poll.error) return html`<${ErrorNotice} error=${poll.error} failingSince=${poll.failingSince} />`;
  return html`<${Skeleton} label=${label} />`;
}

/** A part of a page with a heading. @param {{ title: string, actions?: Children, children: Children }} props */
export function Card({ title, actions, children }) {
  return html`<section class="card" aria-label=${title}>
    <div class="row"><h2>${title}</h2>${actions && html`<div class="row">${actions}</div>`}</div>
    ${children}
  </section>`;
}

/**
 * A dialog that asks before one request. Then it says what is done, and closes.
 * @param {{
 *   title: string, submit: string, back?: string, isDangerous?: boolean, request: Parameters<typeof change>,
 *   done: string, onChanged: () => void, onClose: () => void, children: Children,
 * }} props
 */
export function Confirm({ request, done, onChanged, ...dialog }) {
  async function confirm() {
    await change(...request);
    say(done);
    onChanged();
    dialog.onClose();
  }
  return html`<${FormDialog} ...${dialog} onSubmit=${confirm} />`;
}
