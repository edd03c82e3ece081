import { stored } from './storage.js';

/** The API key of the tab. A reload keeps it, and the end of the tab drops it. */
export const tabKey = stored('sessionStorage', 'petstore-key');
