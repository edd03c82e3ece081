// Contract: section 13.
import type { Actor } from '../../domain/audit.ts';
import { DAY, MINUTE, SECOND } from '../../domain/clock.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Result } from '../../domain/result.ts';
import type { RateLimiter } from '../../limits/limiter.ts';
import type { RefusedCaller } from '../keys/caller.ts';
import type { Deliverer } from './deliverer.ts';
import type { WebhookOwner, WebhookTest } from './repository.ts';
import { checkUrl, MOST_TESTS, LISTEN } from './rules.ts';
import type { Sender } from './sender.ts';

interface EndpointSettings {
  readonly limiter: Pick<RateLimiter, 'charge'>;
  readonly allowPrivate: boolean;
  readonly sender: Pick<Sender, 'findAddress'>;
  readonly deliverer: Pick<Deliverer, 'sendTest'>;
  /** A new random id. */
  readonly newId: () => string;
}

/** Tests of an account. */
const TESTS = { perMinute: MOST_TESTS, perDay: (MOST_TESTS * DAY) / MINUTE };

/** Why an endpoint is refused. */
const MESSAGES = {
  name_not_resolved: 'url must have a name that resolves to an address.',
  address_not_public: `url must lead to public addresses only. ${LISTEN}.`,
} as const;

/** What operations on webhooks do with endpoints themselves. */
export class Endpoints {
  readonly #settings: EndpointSettings;

  constructor(settings: EndpointSettings) {
    this.#settings = settings;
  }

  /** Whether events may be sent there, by its text and by what its name resolves to now. It sends nothing, and ends within 5 s. */
  async check(text: string, accountId: number): Promise<Result<undefined, 'invalid_request'>> {
    const url = checkUrl(text, this.#settings);
    if ('error' in url) return { error: 'invalid_request', message: `url ${url.message}.` };
    const found = await this.#settings.sender.findAddress(url.value, accountId);
    return 'failure' in found
      ? { error: 'invalid_request', message: MESSAGES[found.failure] }
      : { value: undefined };
  }

  /** `rate_limit_exceeded`: the account has sent `MOST_TESTS` in this minute, which begins with its first test. */
  async test(
    actor: Actor,
    id: number,
    owner: WebhookOwner,
    idempotency?: Idempotency,
  ): Promise<Repeatable<WebhookTest, RefusedCaller | 'not_found' | 'conflict' | 'rate_limit_exceeded'>> {
    const { limiter, deliverer, newId } = this.#settings;
    const address = `webhook tests of account ${owner.accountId}`;
    const { kind, quota } = await limiter.charge({ kind: 'address', address, limits: TESTS });
    if (kind !== 'admitted') {
      const wait = quota[quota.governing].resetsAt - quota.at;
      return { error: 'rate_limit_exceeded', retryAfter: Math.ceil(wait / SECOND) };
    }
    return deliverer.sendTest(actor, id, owner, newId(), idempotency);
  }
}
