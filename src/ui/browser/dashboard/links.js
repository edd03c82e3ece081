/** The pages of the service that a reader can open from the dashboard. */
export const LINKS = [
  { href: 'dashboard', text: 'Dashboard', isCurrent: true },
  { href: 'reference', text: 'Reference' },
];
