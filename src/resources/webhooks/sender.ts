// Contract: section 13. Whom we may send to: docs/design/webhooks.md.
import { type Clock, SECOND } from '../../domain/clock.ts';
import { chooseAddress, type Found, readAddress } from './addresses.ts';
import { checkUrl, type Outcome } from './rules.ts';
import type { Answer, Content, Transport } from './transport.ts';
import { Turns } from './turns.ts';

/** Milliseconds of an attempt: for the name, the connection, and the status of the answer. */
const ATTEMPT_TIME = 10 * SECOND;

/** Attempts of an account from this instance that begin within a second. */
const MOST_IN_A_SECOND = { most: Number.POSITIVE_INFINITY, mostEach: 20, share: 20 };

/** Attempts at once at one address from this instance. */
const MOST_AT_ADDRESS = { most: 20, mostEach: 20, share: 5 };

/** Attempts at once from this instance. */
const MOST_AT_ONCE = { most: 500, mostEach: 500, share: 125 };

interface SenderSettings {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly allowPrivate: boolean;
}

export interface Message extends Content {
  readonly webhookId: number;
  readonly accountId: number;
  readonly url: string;
  /** Somebody waits for it: the time of the attempt includes all waits for turns. */
  readonly isTest: boolean;
}

/** A test has waited for its turns for too long. */
const LATE = 'late';

interface Attempt {
  readonly message: Message;
  /** Monotonic milliseconds. The wait for the budget of the account is no part of an attempt, unless it is a test. */
  begin: number;
  /** Unix milliseconds: when the transport got it. */
  sentAt?: number;
  /** Aborted when it is withdrawn, or with `LATE`, while the transport does not have it yet. */
  readonly end: AbortController;
}

/** Decides when messages leave, and to which addresses. It never rejects for what the network does. */
export class Sender {
  readonly #settings: SenderSettings;
  readonly #budgets = new Turns(MOST_IN_A_SECOND);
  readonly #addresses = new Map<string, Turns>();
  readonly #all = new Turns(MOST_AT_ONCE);
  /** Attempts that the transport does not have yet, by webhook. */
  readonly #waiting = new Map<number, Set<Attempt>>();

  constructor(settings: SenderSettings) {
    this.#settings = settings;
  }

  /** The address of an endpoint that may get messages, by what its name resolves to now. Ends within 5 s. */
  async findAddress({ hostname }: URL, accountId: number): Promise<Found> {
    const address = readAddress(hostname);
    return address === undefined
      ? this.#settings.transport.lookUp(hostname, accountId)
      : chooseAddress([address], this.#settings);
  }

  /** Undefined: it was withdrawn, so nothing was sent. */
  async send(message: Message): Promise<Outcome | undefined> {
    const { clock } = this.#settings;
    const attempt: Attempt = { message, begin: clock().monotonic, end: new AbortController() };
    this.#addWaiting(attempt);
    const late = message.isTest ? setTimeout(() => attempt.end.abort(LATE), ATTEMPT_TIME) : undefined;
    const answer = await this.#attempt(attempt).finally(() => {
      clearTimeout(late);
      this.#removeWaiting(attempt);
    });
    const durationMs = Math.round(clock().monotonic - attempt.begin);
    const { sentAt } = attempt;
    return answer === undefined
      ? undefined
      : { ...toOutcome(answer), durationMs, ...(sentAt !== undefined && { sentAt }) };
  }

  /** When it resolves, no request of this webhook leaves that was made before. Requests that have left go on. */
  async withdraw(webhookId: number): Promise<void> {
    for (const { end } of this.#waiting.get(webhookId) ?? []) end.abort();
    await this.#settings.transport.withdraw(webhookId);
  }

  close(): Promise<void> {
    return this.#settings.transport.close();
  }

  async #attempt(attempt: Attempt): Promise<Answer | undefined> {
    const { clock, transport } = this.#settings;
    const { message } = attempt;
    const { accountId } = message;
    const checked = checkUrl(message.url, this.#settings);
    if ('error' in checked) return { failure: 'url_refused' };
    const over = attempt.end.signal;
    const end = () => (over.reason === LATE ? ({ failure: 'timeout' } as const) : undefined);

    const endBudget = await this.#budgets.enter(accountId, over);
    if (endBudget === undefined) return end();
    setTimeout(endBudget, SECOND).unref();
    if (!message.isTest) attempt.begin = clock().monotonic;
    const found = await Promise.race([this.findAddress(checked.value, accountId), waitForAbort(over)]);
    if (found === undefined || over.aborted) return end();
    if ('failure' in found) return found;
    const { address } = found;
    const spent = clock().monotonic - attempt.begin;
    const turns: (() => void)[] = [];
    try {
      for (const shared of [this.#turnsAt(address.address), this.#all]) {
        const endTurn = await shared.enter(accountId, over);
        if (endTurn === undefined) return end();
        turns.push(endTurn);
      }
      if (over.aborted) return end();
      const used = message.isTest ? clock().monotonic - attempt.begin : spent;
      const time = Math.max(1, Math.ceil(ATTEMPT_TIME - used));
      const { webhookId, url, id, body, secrets } = message;
      // Nothing may wait from here to the transport, which learns of later withdrawals.
      this.#removeWaiting(attempt);
      const at = Math.floor(clock().unix);
      attempt.sentAt = at;
      return await transport.post({ webhookId, url, address, id, body, secrets, at, time });
    } finally {
      for (const endTurn of turns) endTurn();
      if (this.#addresses.get(address.address)?.isUnused === true) this.#addresses.delete(address.address);
    }
  }

  #turnsAt(address: string): Turns {
    let turns = this.#addresses.get(address);
    if (turns === undefined) this.#addresses.set(address, (turns = new Turns(MOST_AT_ADDRESS)));
    return turns;
  }

  #addWaiting(attempt: Attempt): void {
    const { webhookId } = attempt.message;
    const waiting = this.#waiting.get(webhookId);
    if (waiting === undefined) this.#waiting.set(webhookId, new Set([attempt]));
    else waiting.add(attempt);
  }

  #removeWaiting(attempt: Attempt): void {
    const { webhookId } = attempt.message;
    const waiting = this.#waiting.get(webhookId);
    waiting?.delete(attempt);
    if (waiting?.size === 0) this.#waiting.delete(webhookId);
  }
}

function toOutcome(answer: Answer) {
  if ('failure' in answer) return { status: 'failed', failure: answer.failure } as const;
  const { status: httpStatus, retryAfter } = answer;
  if (httpStatus >= 200 && httpStatus < 300) return { status: 'succeeded', httpStatus } as const;
  const failure = httpStatus >= 300 && httpStatus < 400 ? 'redirect' : 'status';
  return { status: 'failed', failure, httpStatus, ...(retryAfter !== undefined && { retryAfter }) } as const;
}

function waitForAbort(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
