// Contract: section 13. Why: docs/design/webhooks.md.

interface TurnLimits {
  /** Turns at once, of all accounts. */
  readonly most: number;
  /** Turns at once of one account. */
  readonly mostEach: number;
  /** What an account gets while another one waits. So many also stay free for accounts that have fewer. */
  readonly share: number;
}

type Waiter = () => void;

/** Turns at something that accounts share. Of those that wait, accounts get theirs one after the other. */
export class Turns {
  readonly #limits: TurnLimits;
  #total = 0;
  readonly #counts = new Map<number, number>();
  /** By account, in the order of their last turns. No queue is empty. */
  readonly #waiting = new Map<number, Waiter[]>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  get isUnused(): boolean {
    return this.#total === 0 && this.#waiting.size === 0;
  }

  /** Resolves with what ends the turn, to be called once, or with undefined when `signal` aborted before it began. */
  enter(accountId: number, signal?: AbortSignal): Promise<(() => void) | undefined> {
    return new Promise((resolve) => {
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        this.#total++;
        this.#counts.set(accountId, this.#count(accountId) + 1);
        resolve(() => this.#leave(accountId));
      };
      const giveUp = () => {
        this.#remove(accountId, begin);
        resolve(undefined);
      };
      const queue = this.#waiting.get(accountId);
      if (signal?.aborted === true) resolve(undefined);
      else if (queue === undefined && this.#mayBegin(accountId)) begin();
      else {
        if (queue === undefined) this.#waiting.set(accountId, [begin]);
        else queue.push(begin);
        signal?.addEventListener('abort', giveUp, { once: true });
      }
    });
  }

  #count(accountId: number): number {
    return this.#counts.get(accountId) ?? 0;
  }

  #mayBegin(accountId: number): boolean {
    const { most, mostEach, share } = this.#limits;
    const count = this.#count(accountId);
    if (this.#total >= most || count >= mostEach) return false;
    const othersWait = this.#waiting.size > (this.#waiting.has(accountId) ? 1 : 0);
    return count < share || (!othersWait && this.#total < most - share);
  }

  #leave(accountId: number): void {
    this.#total--;
    const count = this.#count(accountId) - 1;
    if (count > 0) this.#counts.set(accountId, count);
    else this.#counts.delete(accountId);
    this.#beginWaiting();
  }

  #remove(accountId: number, waiter: Waiter): void {
    const queue = this.#waiting.get(accountId) ?? [];
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length > 0) return;
    this.#waiting.delete(accountId);
    // Nobody may wait any more beside an account that has its share.
    this.#beginWaiting();
  }

  #beginWaiting(): void {
    for (let hasBegun = true; hasBegun; ) {
      hasBegun = false;
      for (const [accountId, queue] of this.#waiting) {
        if (!this.#mayBegin(accountId)) continue;
        const begin = queue.shift();
        // Those of this account that still wait go behind the other accounts.
        this.#waiting.delete(accountId);
        if (queue.length > 0) this.#waiting.set(accountId, queue);
        begin?.();
        hasBegun = true;
      }
    }
  }
}
