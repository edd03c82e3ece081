/* One line for each resource, in the order of their names. `index.ts` turns the exports of this file into a list. */
export { PETS_RESOURCE } from './pets.ts';
