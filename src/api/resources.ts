/* One line for each resource, in the order of their names. `index.ts` turns the exports of this file into a list. */
export { ACCOUNT_RESOURCE } from './account.ts';
export { CATEGORIES_RESOURCE } from './categories.ts';
export { KEYS_RESOURCE } from './keys.ts';
export { ORDERS_RESOURCE } from './orders.ts';
export { PETS_RESOURCE } from './pets.ts';
