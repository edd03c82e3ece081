import { audit } from './audit/feature.ts';
import { events } from './events/feature.ts';
import { accounts } from './accounts/feature.ts';
import { keys } from './keys/feature.ts';
import { bans } from './bans/feature.ts';
import { usage } from './usage/feature.ts';
import { deprecations } from './deprecations/feature.ts';
import { failedRequests } from './failed-requests/feature.ts';
import { categories } from './categories/feature.ts';
import { pets } from './pets/feature.ts';
import { orders } from './orders/feature.ts';
import { webhooks } from './webhooks/feature.ts';
import { operators } from './operators/feature.ts';
import { passkeys } from './passkeys/feature.ts';
import { overview } from './overview/feature.ts';

/**
 * Every feature, in the order of dependencies: a feature imports from those before it, and never from those after it. The service
 * opens and starts them in this order, and stops them in the reverse one.
 */
export const FEATURES = [
  audit,
  events,
  accounts,
  keys,
  bans,
  usage,
  deprecations,
  failedRequests,
  categories,
  pets,
  orders,
  webhooks,
  operators,
  passkeys,
  overview,
] as const;
