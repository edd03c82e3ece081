import { groupSamples } from './samples.js';

/*
 * Corrects the HTML of Scalar as it renders, mostly for readers who do not see the page or do not use a mouse. The
 * browser tests find what is missing.
 */

/** @type {readonly (readonly [selector: string, correct: (element: Element) => void])[]} */
const CORRECTIONS = [
  [
    'button[class~="group/copy-button"]:not([aria-label])',
    (button) => button.setAttribute('aria-label', 'Copy'),
  ],
  // It refers to a tooltip, which exists only while it is shown.
  ['button[class~="group/copy-button"][aria-controls]', (button) => button.removeAttribute('aria-controls')],
  ['button[role="none"]', (button) => button.removeAttribute('role')],
  ['[role="combobox"]:not([aria-expanded])', (input) => input.setAttribute('aria-expanded', 'false')],
  ['.cm-content:not([aria-label])', (editor) => editor.setAttribute('aria-label', 'Body')],
  // A region that scrolls must be reachable with the keyboard.
  ['.cm-scroller[tabindex="-1"]', (region) => region.setAttribute('tabindex', '0')],
  ['ul[aria-label$=" endpoints"]:not([tabindex])', (list) => list.setAttribute('tabindex', '0')],
  ['code.custom-scroll:not([tabindex])', (region) => region.setAttribute('tabindex', '0')],
  // The menu of an empty parameter. The style sheet gives it a text.
  ['button:has(> span:empty):not([aria-label], [title])', (button) => button.setAttribute('title', 'Value')],
  ['.markdown > pre:has(+ pre)', groupSamples],
];

/**
 * Enter opens the first result of a search until the reader has chosen another one with the arrow keys.
 * @param {KeyboardEvent} event
 */
function openFirstResult({ key, isComposing, target }) {
  if (key !== 'Enter' || isComposing || !(target instanceof Element)) return;
  if (!target.matches('[role="combobox"][type="search"]')) return;
  const dialog = target.closest('[role="dialog"]');
  const first = dialog?.querySelector('[role="option"]');
  const isChosen = dialog?.querySelector('[role="option"][aria-selected="true"]') !== null;
  if (first instanceof HTMLElement && !isChosen) first.click();
}

/** Corrects the page now and whenever it changes. */
export function correctPage() {
  document.addEventListener('keydown', openFirstResult, { capture: true });
  let planned = false;
  const correct = () => {
    planned = false;
    for (const [selector, apply] of CORRECTIONS) document.querySelectorAll(selector).forEach(apply);
  };
  const plan = () => {
    if (!planned) requestAnimationFrame(correct);
    planned = true;
  };
  new MutationObserver(plan).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['role', 'tabindex', 'aria-controls', 'aria-label', 'aria-expanded'],
  });
  plan();
}
