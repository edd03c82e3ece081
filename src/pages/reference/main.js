import { copyText } from '../shared/clipboard.js';
import { stored } from '../shared/storage.js';
import { currentTheme, followTheme, switchTheme } from '../shared/theme.js';
import { followContents } from './contents.js';
import { startSearch } from './search.js';
import { startTrying } from './try-it.js';

/** @template {Element} E @param {string} selector @param {new () => E} kind @returns {E} */
function find(selector, kind) {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`The page has no ${selector}.`);
  return found;
}

/** What works only with a script is hidden until now. @param {string} selector */
function showButton(selector) {
  const button = find(selector, HTMLButtonElement);
  button.hidden = false;
  return button;
}

const theme = showButton('#theme');
const nameTheme = () => {
  theme.textContent = currentTheme() === 'dark' ? 'Light' : 'Dark';
};
nameTheme();
theme.addEventListener('click', switchTheme);
followTheme(nameTheme);

const language = stored('localStorage', 'petstore-language');

/** Shows a language in all samples that have it. @param {string} name */
function chooseLanguage(name) {
  for (const input of document.querySelectorAll('.samples.code input'))
    if (input instanceof HTMLInputElement && input.value === name) input.checked = true;
}

chooseLanguage(language.read());
const content = find('#content', HTMLElement);
content.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.closest('.samples.code') === null) return;
  language.write(target.value);
  const { top } = target.getBoundingClientRect();
  chooseLanguage(target.value);
  // What is read stays where it is, although samples above have other lengths now.
  scrollBy({ top: target.getBoundingClientRect().top - top, behavior: 'instant' });
});

for (const pre of document.querySelectorAll('.samples pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  const copy = async () => {
    button.textContent = (await copyText(pre)) ? 'Copied' : 'Selected';
    setTimeout(() => (button.textContent = 'Copy'), 2_000);
  };
  button.addEventListener('click', () => void copy());
  pre.after(button);
}

followContents(find('.contents', HTMLDetailsElement));
startSearch(showButton('#search'), content);
startTrying(content);
