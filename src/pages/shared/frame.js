import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { currentTheme, followTheme, switchTheme } from './theme.js';

const ICON = new URL('icon.svg', import.meta.url).href;

/** The name of the service with its icon, as a link. @param {{ href: string }} props */
export function Brand({ href }) {
  return html`<a class="brand" href=${href}><img src=${ICON} width="24" height="24" alt="" />Pet Store</a>`;
}

/** Changes between light and dark. It names the colours that a click gives. */
export function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => followTheme(() => setTheme(currentTheme())), []);
  return html`<button type="button" onClick=${switchTheme}>${theme === 'dark' ? 'Light' : 'Dark'}</button>`;
}

/** Milliseconds. Long enough to read a sentence twice. */
const SHOWN = 6_000;

/** @type {(text: string) => void} */
let show = () => {};

/** Shows a sentence for a few seconds. Screen readers read it. @param {string} text */
export function say(text) {
  show(text);
}

/** Shows the sentences of `say`. Render it once, in the layout. */
export function Status() {
  const [text, setText] = useState('');
  useEffect(() => {
    show = setText;
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => setText(''), SHOWN);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<div class="toasts" role="status">${text && html`<p>${text}</p>`}</div>`;
}
