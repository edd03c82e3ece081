import type { Logger } from 'pino';
import { textFromInstant } from '../domain/instant.ts';
import type { Ban } from '../limits/ban.ts';
import type { Store } from '../resources/repositories.ts';

/** Logs the bans that begin and the changes that operators make (docs/design/keys-and-operators.md). */
export class ChangeLog {
  readonly #store: Pick<Store, 'keys' | 'notices'>;
  readonly #log: Logger;

  constructor(store: Pick<Store, 'keys' | 'notices'>, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** Never rejects. Without the database it logs the ban without its account. */
  async banBegins(keyId: number, { until, count }: Ban): Promise<void> {
    const found = await this.#store.keys.find(keyId).catch(() => undefined);
    const account = found !== undefined && 'value' in found ? found.value.account.name : undefined;
    this.#log.warn({ keyId, account, until: textFromInstant(until), count }, 'ban begins');
  }

  /** Logs what operators have changed since the last call. Rejects as the store does. */
  async logNotices(): Promise<void> {
    for (const { event, keyId, account, plan } of await this.#store.notices.take()) {
      const fields = keyId === undefined ? { account, plan } : { keyId, account };
      this.#log.info(fields, event);
    }
  }
}
