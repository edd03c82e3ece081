import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { keepAliveClient, type Sent } from './load.ts';
import { run, type Variables } from './process.ts';

/**
 * Milliseconds that a client waits after a 503. Much shorter than `Retry-After`, so that there are many requests in an
 * outage.
 */
const PAUSE = 20;

/** Creators and readers that go on whatever happens, and notice every promise that is broken to them. */
interface CatalogueLoad {
  /** How many creates were answered with 201, and how many requests with 503. */
  readonly created: () => number;
  readonly refused: () => number;
  /** Resolves once each of the requests that are on their way is answered. */
  answered(): Promise<unknown>;
  /** Ends the load, and compares what was answered with what is there. */
  finish(): Promise<void>;
}

interface LoadOptions {
  readonly url: string;
  readonly key: string;
  /** Of the service, for the command line to see what is there. */
  readonly variables: Variables;
  /** With which the names of its animals begin. */
  readonly prefix: string;
  readonly creators?: number;
  readonly readers?: number;
}

/** Starts the load on a service; every second create has an Idempotency-Key and is sent again until it is answered. */
export function startCatalogueLoad({
  url,
  key,
  variables,
  prefix,
  creators = 16,
  readers = 4,
}: LoadOptions): CatalogueLoad {
  const client = keepAliveClient(url, key, creators + readers);
  const underWay = new Set<Promise<Sent>>();
  const answered = new Map<string, string>();
  let refused = 0;
  const over = new AbortController();

  const send = async (path: string, body?: string, headers?: Record<string, string>): Promise<Sent> => {
    const answer = client.send(path, body, headers);
    underWay.add(answer);
    const sent = await answer.finally(() => underWay.delete(answer));
    assert.match(String(sent.headers['x-ratelimit-remaining']), /^\d+$/);
    if (sent.status !== 503) return sent;
    refused++;
    assert.match(String(sent.headers['retry-after']), /^\d+$/);
    assert.deepEqual(Object.keys(JSON.parse(sent.text)), ['code', 'message', 'status']);
    assert.equal(JSON.parse(sent.text).code, 'unavailable');
    await wait(PAUSE);
    return sent;
  };

  const create = async (creator: number) => {
    for (let n = 0; !over.signal.aborted; n++) {
      const name = `${prefix}-${creator}-${n}`;
      const body = `{"name":"${name}","categoryId":1}`;
      const isRepeatable = n % 2 === 0;
      const headers: Record<string, string> = isRepeatable ? { 'idempotency-key': name } : {};
      let sent = await send('/v1/pets', body, headers);
      if (isRepeatable) while (sent.status === 503) sent = await send('/v1/pets', body, headers);
      if (sent.status === 503) continue;
      assert.equal(sent.status, 201, sent.text);
      const id = /^\{"id":(\d+),/.exec(sent.text)?.[1] ?? '';
      assert.ok(!answered.has(id), `id ${id} came twice`);
      answered.set(id, name);
    }
  };

  const read = async () => {
    while (!over.signal.aborted) {
      const { status, text } = await send('/v1/pets?limit=5');
      assert.ok(status === 200 || status === 503, text);
    }
  };

  const work = Promise.all([
    ...Array.from({ length: creators }, (_, creator) => create(creator)),
    ...Array.from({ length: readers }, read),
  ]);
  // Looked at when the load is finished.
  work.catch(() => undefined);

  return {
    created: () => answered.size,
    refused: () => refused,
    answered: () => Promise.all(underWay),
    async finish() {
      over.abort();
      await work;
      client.close();
      const { code, stdout, stderr } = await run(['export'], variables);
      assert.equal(code, 0, stderr);
      const stored = new Map<string, string>();
      for (const [, id = '', name = ''] of stdout.matchAll(/"id":(\d+),"name":"([^"]+)"/g))
        stored.set(id, name);
      for (const [id, name] of answered) assert.equal(stored.get(id), name, 'an answered create is lost');
      assert.equal(new Set(stored.values()).size, stored.size, 'a create was done twice');
    },
  };
}
