/* The resources of the admin API, one line for each. */
export { OVERVIEW_RESOURCE } from './overview.ts';
export { ACCOUNTS } from './accounts.ts';
export { KEYS } from './keys.ts';
export { USAGE_RESOURCE } from './usage.ts';
export { BANS } from './bans.ts';
export { DEPRECATIONS } from './deprecations.ts';
export { FAULTS } from './faults.ts';
export { AUDIT } from './audit.ts';
export { OPERATORS } from './operators.ts';
export { ME } from './me.ts';
