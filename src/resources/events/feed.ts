// Contract: section 13.
import type { Socket } from 'node:net';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { EventPage, EventQuery, EventRepository } from './repository.ts';
import { EVENT_TYPE_NAMES, type StoredStream, type Stream } from './rules.ts';

/** Readers of one account that wait on one instance at a time. */
const MOST_WAITS = 10;

/** Readers that wake in one turn of the event loop: each reads, and writes an answer. */
const WOKEN_AT_ONCE = 50;

/** Events of a socket whose client has gone. Most clients end their side, and the socket closes only when it is written to. */
const ENDS = ['end', 'close'] as const;

/** Types after which a reader looks whether its key still works. */
const ENDINGS: ReadonlySet<string> = new Set(['key.revoked', 'key.rotated']);

interface Waiter {
  readonly accountId: number;
  readonly names: ReadonlySet<string>;
  readonly wake: () => void;
}

function nameStream({ accountId, environment, type }: StoredStream): string {
  return `${accountId} ${environment} ${type}`;
}

/**
 * Wakes readers when their streams get events. One look serves all that wait, and it also gives places to events that wait for
 * them.
 */
export class Feed {
  readonly #events: Pick<EventRepository, 'look' | 'place' | 'findBounds' | 'list'>;
  readonly #waiters = new Set<Waiter>();
  /** Waits by account. */
  readonly #waits = new Map<number, number>();
  /** While readers wake: the pages that they read, by streams, place and limit. */
  #shared: Map<string, Promise<EventPage>> | undefined;
  /** Events that the looks have found, by type. */
  readonly counts = new Map<string, number>(EVENT_TYPE_NAMES.map((type) => [type, 0]));
  readonly #listeners: ((streams: readonly StoredStream[]) => void)[] = [];
  /** Undefined until the first look. */
  #last: bigint | undefined;
  #isClosed = false;

  constructor(events: Pick<EventRepository, 'look' | 'place' | 'findBounds' | 'list'>) {
    this.#events = events;
  }

  /** Whether listeners hear of every event that comes from now on. Before, an event can come and no look tells of it. */
  get hasBegun(): boolean {
    return this.#last !== undefined;
  }

  /** Calls `listener` with the streams of new events. */
  listen(listener: (streams: readonly StoredStream[]) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Looks for new events. Call it every second at most; the answer is one statement when there are none. Events that wait for
   * places go on waiting once `signal` aborts.
   */
  async look(signal?: AbortSignal): Promise<void> {
    this.#last ??= (await this.#events.findBounds()).last;
    let found = await this.#events.look(this.#last);
    if (found.hasQueue) {
      await this.#events.place(signal);
      if (signal?.aborted === true) return;
      found = await this.#events.look(this.#last);
    }
    if (found.streams.length === 0) return;
    this.#last = found.streams.at(-1)?.id ?? this.#last;
    for (const { type, count } of found.streams) this.counts.set(type, (this.counts.get(type) ?? 0) + count);
    for (const listener of this.#listeners) listener(found.streams);
    const names = new Set(found.streams.map(nameStream));
    const ended = new Set(
      found.streams.filter(({ type }) => ENDINGS.has(type)).map(({ accountId }) => accountId),
    );
    this.#shared = new Map();
    const woken = [...this.#waiters].filter(
      ({ accountId, names: awaited }) => ended.has(accountId) || !names.isDisjointFrom(awaited),
    );
    for (const [index, { wake }] of woken.entries()) {
      if (index > 0 && index % WOKEN_AT_ONCE === 0) await letOthersRun();
      wake();
    }
    await letOthersRun();
    this.#shared = undefined;
  }

  /** A page for a reader that has waited. Readers that one look wakes share a page if place and streams are equal. */
  listForWoken(query: EventQuery): Promise<EventPage> {
    const { streams, after, limit } = query;
    const name = `${after} ${limit} ${streams.map(nameStream).join()}`;
    const page = this.#shared?.get(name) ?? this.#events.list(query);
    this.#shared?.set(name, page);
    return page;
  }

  /**
   * Waits until there may be events of these streams after a place, at most `milliseconds`. Resolves with false when none came,
   * when the client of `socket` has ended its side or gone, when the feed closed, or at once when the account waits often enough.
   */
  wait(
    { accountId, streams, after }: { accountId: number; streams: readonly Stream[]; after: bigint },
    milliseconds: number,
    socket: Pick<Socket, 'once' | 'off' | 'destroyed' | 'readableEnded'>,
  ): Promise<boolean> {
    // Before the first look, the reader says from where on to look.
    this.#last ??= after;
    // A look has seen more than the reader.
    if (this.#last > after) return Promise.resolve(!this.#isClosed);
    const waits = this.#waits.get(accountId) ?? 0;
    const isGone = socket.destroyed || socket.readableEnded;
    if (this.#isClosed || isGone || waits >= MOST_WAITS) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isWoken: boolean) => {
        clearTimeout(timer);
        for (const event of ENDS) socket.off(event, leave);
        if (this.#waiters.delete(waiter)) this.#count(accountId, -1);
        resolve(isWoken);
      };
      const leave = () => end(false);
      const timer = setTimeout(leave, milliseconds);
      const waiter = {
        accountId,
        names: new Set(streams.map(nameStream)),
        wake: () => end(!this.#isClosed),
      };
      for (const event of ENDS) socket.once(event, leave);
      this.#waiters.add(waiter);
      this.#count(accountId, 1);
    });
  }

  #count(accountId: number, change: 1 | -1): void {
    const waits = (this.#waits.get(accountId) ?? 0) + change;
    if (waits === 0) this.#waits.delete(accountId);
    else this.#waits.set(accountId, waits);
  }

  /** Ends every wait, because the service stops. */
  close(): void {
    this.#isClosed = true;
    for (const { wake } of this.#waiters) wake();
  }
}
