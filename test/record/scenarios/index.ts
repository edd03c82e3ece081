import type { Scenario } from '../support/scenario.ts';
import { ACCOUNT } from './account.ts';
import {
  ADMIN_ACCESS,
  ADMIN_ACCOUNTS,
  ADMIN_COOKIES,
  ADMIN_KEYS,
  ADMIN_OPERATORS,
  ADMIN_PAGES,
} from './admin.ts';
import { ADMIN_PASSKEYS } from './admin-passkeys.ts';
import { ADMIN_WATCH } from './admin-watch.ts';
import { AUTHENTICATION } from './authentication.ts';
import { CATEGORIES } from './categories.ts';
import { CORS, CORS_OF_SOME } from './cors.ts';
import { FRAMING } from './framing.ts';
import { KEYS } from './keys.ts';
import { LIMITS } from './limits.ts';
import { ORDERS } from './orders.ts';
import { FAULT, OUTAGE } from './outage.ts';
import { PAGES } from './pages.ts';
import { PETS } from './pets.ts';
import { REMOVED } from './removed.ts';

/** Each is played on stores of its own. */
export const SCENARIOS: readonly Scenario[] = [
  PETS,
  CATEGORIES,
  ORDERS,
  ACCOUNT,
  KEYS,
  AUTHENTICATION,
  CORS,
  CORS_OF_SOME,
  FRAMING,
  PAGES,
  REMOVED,
  LIMITS,
  ADMIN_ACCESS,
  ADMIN_COOKIES,
  ADMIN_PAGES,
  ADMIN_ACCOUNTS,
  ADMIN_KEYS,
  ADMIN_OPERATORS,
  ADMIN_PASSKEYS,
  ADMIN_WATCH,
  OUTAGE,
  FAULT,
];
