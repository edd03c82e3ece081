import assert from 'node:assert/strict';
import type { Sent } from './load.ts';
import type { Filter, Operation, Recorded } from './order-events.ts';
import type { Order, Pet, PetChanges } from './order-model.ts';

/** One request to one of several instances. Rejects when its connection is lost. */
export type SendTo = (
  instance: number,
  path: string,
  body?: string,
  headers?: Record<string, string>,
  method?: string,
) => Promise<Sent>;

export interface Surroundings {
  readonly send: SendTo;
  /** Sets the time at which a pending order expires, in Unix milliseconds, in the database. */
  readonly expireAt: (orderId: number, instant: number) => Promise<void>;
  /** Called after each operation with how many were recorded so far. */
  readonly onEnd?: (count: number) => void;
}

interface Request {
  readonly instance: number;
  readonly path: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly isRepeatable?: boolean;
}

/** An animal as an answer showed it, with the entity tag of the answer. */
export interface ReadPet {
  readonly pet: Pet;
  readonly etag: string;
}

/** Where the next page of a list begins. */
interface Place {
  readonly cursor: string;
  /** The id where the page before ended. */
  readonly before: number;
}

const LIMIT = 100;

/**
 * Clients of several instances. It records what they asked, what they were answered, and when. It records a write without
 * an answer if the answer is lost or 503, because nobody knows whether it was done. It does not record such a read.
 */
export class Recorder {
  readonly history: Recorded[] = [];
  readonly #surroundings: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  create(instance: number, pet: Omit<Pet, 'id'>): Promise<Pet | undefined> {
    const request = { instance, path: '/pets', body: pet };
    return this.#write(request, (answer) => ({ kind: 'create', pet, answer }));
  }

  patch(instance: number, petId: number, changes: PetChanges, read?: ReadPet): Promise<unknown> {
    const headers = {
      'content-type': 'application/merge-patch+json',
      ...(read && { 'if-match': read.etag }),
    };
    const request = { instance, path: `/pets/${petId}`, method: 'PATCH', body: changes, headers };
    return this.#write(request, (answer) => ({ kind: 'patch', petId, changes, ifMatch: read?.pet, answer }));
  }

  delete(instance: number, petId: number): Promise<unknown> {
    const request = { instance, path: `/pets/${petId}`, method: 'DELETE' };
    return this.#write(request, (answer) => ({ kind: 'delete', petId, answer }));
  }

  /** Sends the request again to the next instance if nobody knows whether it was done. */
  order(instance: number, petId: number): Promise<Order | undefined> {
    const shipDate = uniqueDate();
    const headers = { 'idempotency-key': shipDate };
    const request = {
      instance,
      path: '/store/orders',
      body: { petId, shipDate },
      headers,
      isRepeatable: true,
    };
    return this.#write(request, (answer) => ({ kind: 'order', petId, shipDate, answer }));
  }

  complete(instance: number, orderId: number): Promise<unknown> {
    const request = { instance, path: `/store/orders/${orderId}/complete`, method: 'POST' };
    return this.#write(request, (answer) => ({ kind: 'complete', orderId, answer }));
  }

  cancel(instance: number, orderId: number): Promise<unknown> {
    const request = { instance, path: `/store/orders/${orderId}`, method: 'DELETE' };
    return this.#write(request, (answer) => ({ kind: 'cancel', orderId, answer }));
  }

  async expireAt(orderId: number, instant: number): Promise<void> {
    const began = now();
    await this.#surroundings.expireAt(orderId, instant);
    this.#record({ kind: 'expire at', orderId, instant }, began);
  }

  async get(instance: number, petId: number): Promise<ReadPet | undefined> {
    const sent = await this.#read(instance, `/pets/${petId}`, (answer) => ({ kind: 'get', petId, answer }));
    if (sent?.status !== 200) return undefined;
    return { pet: JSON.parse(sent.text), etag: String(sent.headers['etag']) };
  }

  async getOrder(instance: number, orderId: number): Promise<void> {
    const path = `/store/orders/${orderId}`;
    await this.#read(instance, path, (answer) => ({ kind: 'get order', orderId, answer }));
  }

  /** The first page of the animals that match. */
  list(instance: number, filter: Filter): Promise<unknown> {
    return this.#list(instance, 'list', filter);
  }

  listOrders(instance: number, filter: Filter): Promise<unknown> {
    return this.#list(instance, 'list orders', filter);
  }

  /** Every page of the list. */
  async listAll(instance: number, kind: 'list' | 'list orders'): Promise<void> {
    let place: Place | undefined;
    do place = await this.#list(instance, kind, {}, place);
    while (place !== undefined);
  }

  /** Resolves with the place of the next page, if there is one. */
  async #list(instance: number, kind: 'list' | 'list orders', filter: Filter, place?: Place) {
    const { ids = [], ...values } = filter;
    const query = new URLSearchParams({ limit: `${LIMIT}`, ...(place && { cursor: place.cursor }) });
    for (const [name, value] of Object.entries(values)) query.set(name, `${value}`);
    for (const id of ids) query.append('id', `${id}`);
    const path = `${kind === 'list' ? '/pets' : '/store/orders'}?${String(query)}`;
    const before = place?.before;
    const sent = await this.#read(instance, path, (answer) => {
      assert.ok(Array.isArray(answer), answer);
      return { kind, filter, limit: LIMIT, before, answer };
    });
    const [, cursor] = /[?&]cursor=([^&>]+)>; rel="next"/.exec(String(sent?.headers['link'])) ?? [];
    if (sent === undefined || cursor === undefined) return undefined;
    return { cursor, before: JSON.parse(sent.text).at(-1).id };
  }

  async #read(instance: number, path: string, operationOf: (answer: any) => Operation) {
    const began = now();
    const sent = await this.#ask({ instance, path });
    if (sent !== undefined) this.#record(operationOf(answerOf(sent)), began);
    return sent;
  }

  /** Resolves with the JSON of a success. */
  async #write(request: Request, operationOf: (answer: any) => Operation): Promise<any> {
    const began = now();
    let sent = await this.#ask(request);
    if (sent === undefined && request.isRepeatable === true) {
      sent = await this.#ask({ ...request, instance: request.instance + 1 });
      // The first request may still be in flight, so a refusal of the second decides nothing.
      if (sent?.status !== 201) sent = undefined;
    }
    const answer = sent && answerOf(sent);
    this.#record(operationOf(answer), began, answer === undefined ? Number.POSITIVE_INFINITY : now());
    return typeof answer === 'object' ? answer : undefined;
  }

  /** Resolves with undefined when nobody knows what became of the request. */
  async #ask({ instance, path, method, body, headers = {} }: Request): Promise<Sent | undefined> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { send } = this.#surroundings;
    const sent = await send(instance, `/v1${path}`, text, headers, method).catch(() => undefined);
    return sent?.status === 503 ? undefined : sent;
  }

  #record(operation: Operation, began: number, ended = now()) {
    this.history.push({ ...operation, began, ended });
    this.#surroundings.onEnd?.(this.history.length);
  }
}

/** The JSON of a success, `done` if it has none, or the code of a refusal. */
function answerOf({ status, text }: Sent): any {
  if (status === 204) return 'done';
  assert.ok(status < 500, text);
  const json = JSON.parse(text);
  return status < 300 ? json : json.code;
}

/** Unix milliseconds that never run backwards. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

let dates = 0;

/** No two orders of this process have the same date. */
function uniqueDate(): string {
  return new Date(Date.UTC(2030, 0) + ++dates * 1_000).toISOString();
}
