/* The resources of the admin API, one line for each. */
export { ACCOUNTS } from './accounts.ts';
export { ME } from './me.ts';
