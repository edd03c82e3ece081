import type { Check } from '../check.ts';
import { ACCOUNT } from './account.ts';
import { AUTHENTICATION } from './authentication.ts';
import { CATEGORIES } from './categories.ts';
import { DESCRIPTION } from './description.ts';
import { EVENTS } from './events.ts';
import { LIMITS } from './limits.ts';
import { ORDERS } from './orders.ts';
import { PET_CHANGES } from './pet-changes.ts';
import { PETS } from './pets.ts';
import { SURFACE } from './surface.ts';
import { WEBHOOKS } from './webhooks.ts';

/** All checks, in the order in which they run: those that write come first, so that an empty catalogue has something to read. */
export const CHECKS: readonly Check[] = [
  ...SURFACE,
  ...DESCRIPTION,
  ...AUTHENTICATION,
  ...PETS,
  ...CATEGORIES,
  ...ORDERS,
  ...ACCOUNT,
  ...LIMITS,
  ...EVENTS,
  ...WEBHOOKS,
  ...PET_CHANGES,
].toSorted((one, other) => Number(other.writes === true) - Number(one.writes === true));
