/**
 * The pages of the navigation: their paths and names. Both the router and the listener follow this list. The navigation leaves
 * out an optional page that has no rows.
 */
export const PAGES = /** @type {const} */ ([
  { href: '/', text: 'Overview' },
  { href: '/animals', text: 'Animals' },
  { href: '/categories', text: 'Categories' },
  { href: '/orders', text: 'Orders' },
  { href: '/accounts', text: 'Accounts' },
  { href: '/keys', text: 'Keys' },
  { href: '/bans', text: 'Bans', isOptional: true },
  { href: '/deprecations', text: 'Deprecations', isOptional: true },
  { href: '/failed-requests', text: 'Failed requests' },
  { href: '/audit', text: 'Audit log' },
  { href: '/operators', text: 'Operators' },
]);

/** The pages that are not in the navigation. */
const OTHERS = new Set(['/passkeys', '/sign-in']);

/** The lists whose rows have a page each. */
const DETAILS = /^\/(accounts|animals|failed-requests)\/(\d+)$/;

/**
 * The thing that a path names: `/accounts/7`.
 * @param {string} path
 * @returns {{ things: 'accounts' | 'animals' | 'failed-requests', id: string } | undefined}
 */
export function readDetails(path) {
  const [, things, id] = DETAILS.exec(path) ?? [];
  return things === undefined || id === undefined ? undefined : { things: /** @type {any} */ (things), id };
}

/** Whether the console has a page at a path. @param {string} path */
export function isPage(path) {
  return PAGES.some(({ href }) => href === path) || OTHERS.has(path) || readDetails(path) !== undefined;
}
