/*
 * What Scalar leaves out for those who do not see the page or do not use a mouse, mended as it renders. The browser
 * tests find what is missing.
 */

/** @type {readonly (readonly [selector: string, mend: (element: Element) => void])[]} */
const MENDS = [
  [
    'button[class~="group/copy-button"]:not([aria-label])',
    (button) => button.setAttribute('aria-label', 'Copy'),
  ],
  // It names what is only there while a tooltip is shown.
  ['button[class~="group/copy-button"][aria-controls]', (button) => button.removeAttribute('aria-controls')],
  ['button[role="none"]', (button) => button.removeAttribute('role')],
  ['[role="combobox"]:not([aria-expanded])', (input) => input.setAttribute('aria-expanded', 'false')],
  ['.cm-content:not([aria-label])', (editor) => editor.setAttribute('aria-label', 'Body')],
  // What scrolls must be reached with the keyboard.
  ['.cm-scroller[tabindex="-1"]', (region) => region.setAttribute('tabindex', '0')],
  ['code.custom-scroll:not([tabindex])', (region) => region.setAttribute('tabindex', '0')],
];

/** Mends the page now and whenever it changes. */
export function mendAccessibility() {
  let planned = false;
  const mend = () => {
    planned = false;
    for (const [selector, apply] of MENDS) document.querySelectorAll(selector).forEach(apply);
  };
  const plan = () => {
    if (!planned) requestAnimationFrame(mend);
    planned = true;
  };
  new MutationObserver(plan).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['role', 'tabindex', 'aria-controls', 'aria-label', 'aria-expanded'],
  });
  plan();
}
