import assert from 'node:assert/strict';
import { nameThing, type ReadEvent } from './event-checker.ts';
import type { Sent } from './load.ts';
import type { SendTo } from './order-recorder.ts';

/** Reads through several instances in turn. */
export interface Reader {
  /** Resolves with an answer of 200. It asks the next instance when it gets none, or 503. */
  get(path: string): Promise<Sent>;
}

interface ReaderOptions {
  /** The instance that it asks first. */
  readonly first: number;
  /** Aborted when the test is over, also when it failed. */
  readonly signal: AbortSignal;
  /** It loses each answer of this number, and asks for it again. */
  readonly lost?: number;
}

export function openReader(
  send: SendTo,
  { first, signal, lost = Number.POSITIVE_INFINITY }: ReaderOptions,
): Reader {
  let instance = first;
  let answers = 0;
  return {
    async get(path) {
      for (;;) {
        const sent = await send(instance++, path).catch(() => undefined);
        signal.throwIfAborted();
        if (sent === undefined || sent.status === 503) continue;
        assert.equal(sent.status, 200, sent.text);
        if (++answers % lost !== 0) return sent;
      }
    },
  };
}

function findNext({ headers }: Sent): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
}

/** The path of the page of events that begins now. `query`: the parameters of the feed. */
export async function findEnd(reader: Reader, query: string): Promise<string> {
  const sent = await reader.get(`/v1/events?${query}&after=now`);
  assert.equal(sent.text, '[]');
  return findNext(sent) ?? assert.fail('The page has no Link.');
}

/** Follows the feed from a page on, until it has got the event that is `last`, and then to the end of the feed. */
export async function follow(
  reader: Reader,
  path: string,
  {
    take,
    isLast,
  }: { readonly take: (event: ReadEvent) => void; readonly isLast: (event: ReadEvent) => boolean },
): Promise<void> {
  let isOver = false;
  for (let next: string | undefined = path; ; ) {
    assert.ok(next !== undefined, 'The page has no Link.');
    const sent: Sent = await reader.get(isOver ? next.replace(/\bwait=\d+/, 'wait=0') : next);
    const events = JSON.parse(sent.text) as readonly ReadEvent[];
    for (const event of events) take(event);
    if (isOver && events.length === 0) return;
    isOver ||= events.some(isLast);
    next = findNext(sent);
  }
}

/** Where lists are, by the first word of the types of events. */
const LISTS = { pet: '/v1/pets', category: '/v1/categories', order: '/v1/store/orders' } as const;

/** Things by kind and id: `pet 5`. */
export type Copy = Map<string, unknown>;

/** Every animal and category, and every order of the account. */
export async function listAll(reader: Reader): Promise<Copy> {
  const copy: Copy = new Map();
  for (const [kind, list] of Object.entries(LISTS))
    for (let next: string | undefined = `${list}?limit=100`; next !== undefined; ) {
      const sent = await reader.get(next);
      for (const item of JSON.parse(sent.text) as readonly { id: number }[])
        copy.set(`${kind} ${item.id}`, item);
      next = findNext(sent);
    }
  return copy;
}

/** Makes a copy as the guide says, and keeps it in step until after the event that is `last`. */
export async function copyAndFollow(reader: Reader, isLast: (event: ReadEvent) => boolean): Promise<Copy> {
  const types = Object.keys(LISTS).map((kind) => `type=${kind}.*`);
  const begin = await findEnd(reader, `wait=5&${types.join('&')}`);
  const copy = await listAll(reader);
  const take = ({ type, data }: ReadEvent) => {
    if (type.endsWith('.deleted')) copy.delete(nameThing({ type, data }));
    else copy.set(nameThing({ type, data }), data);
  };
  await follow(reader, begin, { take, isLast });
  return copy;
}
