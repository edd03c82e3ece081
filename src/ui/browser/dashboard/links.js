/** The pages that the dashboard links to. */
export const LINKS = [
  { href: 'dashboard', text: 'Dashboard', isCurrent: true },
  { href: 'reference', text: 'Reference' },
];
