import { stored } from './storage.js';

/** `theme-start.js` reads it, too. */
const choice = stored('localStorage', 'petstore-theme');

/** The colours that the page has now. @returns {'light' | 'dark'} */
export function currentTheme() {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/**
 * Calls `listener` after each change of the colours, whoever made it.
 * @param {() => void} listener
 * @returns {() => void} ends the calls
 */
export function followTheme(listener) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const switched = new MutationObserver(listener);
  system.addEventListener('change', listener);
  switched.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', listener);
    switched.disconnect();
  };
}

/** Changes the colours of all pages. What the system prefers is not stored, so the pages go on following it. */
export function switchTheme() {
  const theme = currentTheme() === 'dark' ? 'light' : 'dark';
  const isPreferred = matchMedia(`(prefers-color-scheme: ${theme})`).matches;
  document.documentElement.dataset.theme = isPreferred ? '' : theme;
  choice.write(isPreferred ? '' : theme);
}
