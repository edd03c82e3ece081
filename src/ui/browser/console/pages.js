import { Accounts } from './accounts.js';
import { Audit } from './audit.js';
import { Bans } from './bans.js';
import { Deprecations } from './deprecations.js';
import { Faults } from './faults.js';
import { Keys } from './keys.js';
import { Operators } from './operators.js';
import { Overview } from './overview.js';

/** The pages of the navigation. */
export const PAGES = [
  { href: '/', text: 'Overview', component: Overview },
  { href: '/accounts', text: 'Accounts', component: Accounts },
  { href: '/keys', text: 'Keys', component: Keys },
  { href: '/bans', text: 'Bans', component: Bans },
  { href: '/deprecations', text: 'Deprecations', component: Deprecations },
  { href: '/faults', text: 'Faults', component: Faults },
  { href: '/audit', text: 'Audit log', component: Audit },
  { href: '/operators', text: 'Operators', component: Operators },
];
