// Contract: section 13.
import type { Actor } from '../../domain/audit.ts';
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Result } from '../../domain/result.ts';
import type { RefusedCaller } from '../keys/caller.ts';
import type { Deliverer } from './deliverer.ts';
import type { Owner, WebhookTest } from './repository.ts';
import { checkUrl, MOST_TESTS, LISTEN } from './rules.ts';
import type { Sender } from './send.ts';

interface EndpointSettings {
  readonly clock: Clock;
  readonly allowPrivate: boolean;
  readonly sender: Pick<Sender, 'findAddress'>;
  readonly deliverer: Pick<Deliverer, 'sendTest'>;
  /** A new random id. */
  readonly newId: () => string;
}

/** The tests of the last minute, by account. */
export class RecentTests {
  /** Monotonic instants. The account whose last test is the oldest comes first. */
  readonly #tests = new Map<number, readonly number[]>();

  get size(): number {
    return this.#tests.size;
  }

  /** Counts a test. If there are `MOST_TESTS` already, it counts none, and returns the milliseconds until one may be sent. */
  add(accountId: number, now: number): number | undefined {
    const isRecent = (at: number) => at > now - MINUTE;
    for (const [account, tests] of this.#tests) {
      if (tests.some(isRecent)) break;
      this.#tests.delete(account);
    }
    const recent = (this.#tests.get(accountId) ?? []).filter(isRecent);
    const [first] = recent;
    if (first !== undefined && recent.length >= MOST_TESTS) return first + MINUTE - now;
    this.#tests.delete(accountId);
    this.#tests.set(accountId, [...recent, now]);
    return undefined;
  }
}

/** Why an endpoint is refused. */
const MESSAGES = {
  name_not_resolved: 'url must have a name that resolves to an address.',
  address_not_public: `url must lead to public addresses only. ${LISTEN}.`,
} as const;

/** What operations on webhooks do with endpoints themselves. */
export class Endpoints {
  readonly #settings: EndpointSettings;
  readonly #tests = new RecentTests();

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

  /** `rate_limit_exceeded`: the account has sent `MOST_TESTS` within a minute from this instance. */
  async test(
    actor: Actor,
    id: number,
    owner: Owner,
    idempotency?: Idempotency,
  ): Promise<Repeatable<WebhookTest, RefusedCaller | 'not_found' | 'conflict' | 'rate_limit_exceeded'>> {
    const { clock, deliverer, newId } = this.#settings;
    const wait = this.#tests.add(owner.accountId, clock().monotonic);
    if (wait !== undefined) return { error: 'rate_limit_exceeded', retryAfter: Math.ceil(wait / SECOND) };
    return deliverer.sendTest(actor, id, owner, newId(), idempotency);
  }
}
