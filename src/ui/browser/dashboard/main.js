import { html, render } from 'htm/preact';
import { Layout } from '../layout.js';

const place = document.getElementById('app');
if (place === null) throw new Error('The page has no place for the dashboard.');
render(html`<${Layout} brand="Pet Store" home="dashboard"><h1>Dashboard</h1><//>`, place);
