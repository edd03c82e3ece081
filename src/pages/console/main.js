import { html, render } from 'htm/preact';
import { App } from './app.js';
import { takeLink } from './link.js';
import { startRouter } from './router.js';
import { followOtherTabs } from './session.js';

const place = document.getElementById('app');
if (place === null) throw new Error('The page has no place for the console.');
const secret = takeLink();
startRouter();
followOtherTabs();
render(html`<${App} secret=${secret} />`, place);
