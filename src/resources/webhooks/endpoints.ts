// Contract: section 13.
import type { Actor } from '../../domain/audit.ts';
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Failure, Result } from '../../domain/result.ts';
import { checkEndpoint, type Lookup } from './addresses.ts';
import type { Deliverer } from './deliverer.ts';
import type { Owner, WebhookTest } from './repository.ts';
import { checkUrl, MOST_TESTS } from './rules.ts';

interface EndpointSettings {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly isAllowed: (address: string) => boolean;
  readonly allowPrivate: boolean;
  readonly deliverer: Pick<Deliverer, 'sendTest'>;
  /** A new random id. */
  readonly newId: () => string;
}

/** What operations on webhooks do with endpoints themselves. */
export class Endpoints {
  readonly #settings: EndpointSettings;
  /** Monotonic instants of the tests of the last minute, by account, in the order of the last test of each. */
  readonly #tests = new Map<number, readonly number[]>();

  constructor(settings: EndpointSettings) {
    this.#settings = settings;
  }

  /** Whether events may be sent there, by its text and by what its name resolves to now. It sends nothing. */
  async check(text: string): Promise<Result<undefined, 'invalid_request'>> {
    const { lookup, isAllowed } = this.#settings;
    const url = checkUrl(text, this.#settings);
    const checked = 'error' in url ? url : await checkEndpoint(url.value, lookup, isAllowed);
    return 'error' in checked ? { error: 'invalid_request', message: `url ${checked.message}.` } : checked;
  }

  /** `rate_limit_exceeded`: the account has sent `MOST_TESTS` within a minute from this instance. */
  async test(
    actor: Actor,
    id: number,
    owner: Owner,
    idempotency?: Idempotency,
  ): Promise<Repeatable<WebhookTest, 'not_found' | 'conflict' | 'rate_limit_exceeded'>> {
    const { clock, deliverer, newId } = this.#settings;
    const now = clock().monotonic;
    const { accountId } = owner;
    const isRecent = (at: number) => at > now - MINUTE;
    // Accounts whose last test was long ago stand first.
    for (const [account, tests] of this.#tests) {
      if (tests.some(isRecent)) break;
      this.#tests.delete(account);
    }
    const recent = (this.#tests.get(accountId) ?? []).filter(isRecent);
    const [first] = recent;
    if (first !== undefined && recent.length >= MOST_TESTS) return refuseTest(first + MINUTE - now);
    this.#tests.delete(accountId);
    this.#tests.set(accountId, [...recent, now]);
    return deliverer.sendTest(actor, id, owner, newId(), idempotency);
  }
}

function refuseTest(wait: number): Failure<'rate_limit_exceeded'> {
  return { error: 'rate_limit_exceeded', retryAfter: Math.ceil(wait / SECOND) };
}
