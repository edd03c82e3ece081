// Contract: section 13. Why not `dns.lookup` alone: docs/design/webhooks.md.
import { lookup, Resolver } from 'node:dns/promises';
import { SECOND } from '../../domain/clock.ts';
import type { Address } from './addresses.ts';
import type { TransportSettings } from './transport.ts';
import { Turns } from './turns.ts';

/** Milliseconds of a look-up with its wait for a turn. A request of the API that needs one is answered within 5 s. */
export const LOOKUP_TIME = 4 * SECOND;

/** Milliseconds for the name servers. The rest is for the system. */
const QUERY_TIME = 3 * SECOND;

/** Milliseconds until a name server is asked again, or the next one, and how often. */
const QUERY = { timeout: SECOND, tries: 2 };

/** Look-ups at once, of all accounts and of each. */
const MOST_LOOKUPS = { most: 128, mostEach: 4, share: 4 };

/** Questions to the system at once. It answers on the pool that the whole process shares. */
const MOST_OF_SYSTEM = { most: 1, mostEach: 1, share: 1 };

/** Looks names up, apart from what else the process looks up. Names are full: no search domain is added. */
export class Names {
  readonly #settings: TransportSettings;
  readonly #turns = new Turns(MOST_LOOKUPS);
  readonly #turnsOfSystem = new Turns(MOST_OF_SYSTEM);
  /** Look-ups that have begun, by name. */
  readonly #underWay = new Map<string, Promise<readonly Address[]>>();

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  /** All addresses of a name, or none when it has none or nobody answers in time. */
  async find(hostname: string, accountId: number): Promise<readonly Address[]> {
    const name = hostname.replace(/\.$/, '');
    const late = new AbortController();
    const { promise: none, resolve } = Promise.withResolvers<readonly Address[]>();
    const timer = setTimeout(() => {
      late.abort();
      resolve([]);
    }, LOOKUP_TIME);
    try {
      return await Promise.race([this.#join(name, accountId, late.signal), none]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #join(name: string, accountId: number, late: AbortSignal): Promise<readonly Address[]> {
    const end = await this.#turns.enter(accountId, late);
    if (end === undefined) return [];
    const begun = this.#underWay.get(name);
    if (begun !== undefined) {
      end();
      return begun;
    }
    const found = this.#ask(name, accountId, end).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, found);
    return found;
  }

  async #ask(name: string, accountId: number, end: () => void): Promise<readonly Address[]> {
    const addresses = await this.#askServers(name).finally(end);
    return addresses.length > 0 || !this.#settings.allowPrivate
      ? addresses
      : this.#askSystem(name, accountId);
  }

  async #askServers(name: string): Promise<readonly Address[]> {
    // Each look-up has its own, which reads the configuration of the system anew and can be cancelled alone.
    const resolver = new Resolver(QUERY);
    const { nameServers } = this.#settings;
    if (nameServers !== undefined) resolver.setServers(nameServers);
    const timer = setTimeout(() => resolver.cancel(), QUERY_TIME);
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    clearTimeout(timer);
    const toAddresses = (found: PromiseSettledResult<string[]>, family: 4 | 6) =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
    return [...toAddresses(four, 4), ...toAddresses(six, 6)];
  }

  /** The system reads the hosts file too. It cannot be cancelled, so the turn lasts until it has answered. */
  async #askSystem(name: string, accountId: number): Promise<readonly Address[]> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), LOOKUP_TIME);
    const end = await this.#turnsOfSystem.enter(accountId, late.signal);
    clearTimeout(timer);
    if (end === undefined) return [];
    try {
      return (await lookup(name, { all: true })) as readonly Address[];
    } catch {
      return [];
    } finally {
      end();
    }
  }
}
