import { connect } from 'node:net';
import type { Attempt } from './ends.ts';

export interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** A request on its way. */
interface Job {
  readonly method: string;
  readonly bytes: string;
  readonly resolve: (answer: Sent) => void;
  readonly reject: (error: Error) => void;
}

interface Connection {
  take(job: Job): void;
  close(): void;
}

/**
 * A client that keeps its connections open, for tests that send many requests. It writes and reads HTTP by itself, because
 * the client of Node.js takes more processor time than the service.
 */
export function keepAliveClient(base: string, key: string, connections: number) {
  const { host, hostname, port } = new URL(base);
  const open = new Set<Connection>();
  const free: Connection[] = [];
  const waiting: Job[] = [];

  const take = (job: Job) => {
    const connection = free.pop() ?? (open.size < connections ? openConnection() : undefined);
    if (connection === undefined) waiting.push(job);
    else connection.take(job);
  };
  const openConnection = () => {
    const connection = connectionTo(hostname, Number(port), {
      free: () => void free.push(connection),
      next: () => waiting.shift(),
      closed: () => {
        open.delete(connection);
        const place = free.indexOf(connection);
        if (place !== -1) free.splice(place, 1);
        const job = waiting.shift();
        if (job !== undefined) take(job);
      },
    });
    open.add(connection);
    return connection;
  };
  return {
    send: (
      path: string,
      body?: string,
      headers: Record<string, string> = {},
      method = body === undefined ? 'GET' : 'POST',
    ): Promise<Sent> => {
      const bytes = requestText(
        { host, key },
        { method, path, headers, ...(body !== undefined && { body }) },
      );
      return new Promise((resolve, reject) => take({ method, bytes, resolve, reject }));
    },
    /** Requests without an answer reject. */
    close: () => {
      for (const { reject } of waiting.splice(0)) reject(new Error('The client was closed.'));
      for (const connection of open) connection.close();
    },
  };
}

/** A request as it goes over the wire. A body is sent as JSON unless a header says otherwise. */
export function requestText(
  { host, key }: { readonly host: string; readonly key: string },
  { method, path, headers, body }: Attempt,
): string {
  const content = body !== undefined && {
    'content-type': 'application/json',
    'content-length': `${Buffer.byteLength(body)}`,
  };
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  const fields = { authorization: `Bearer ${key}`, ...content, ...headers };
  for (const [name, value] of Object.entries(fields)) text += `${name}: ${value}\r\n`;
  return `${text}\r\n${body ?? ''}`;
}

interface Pool {
  readonly free: () => void;
  readonly next: () => Job | undefined;
  readonly closed: () => void;
}

function connectionTo(host: string, port: number, pool: Pool): Connection {
  const socket = connect({ host, port, noDelay: true });
  let job: Job | undefined;
  let received: Buffer = Buffer.alloc(0);
  let lost = new Error('The connection was lost.');
  const take = (next: Job) => {
    job = next;
    socket.write(next.bytes);
  };
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const end = received.indexOf('\r\n\r\n');
    if (end === -1 || job === undefined) return;
    const head = received.toString('latin1', 0, end);
    const status = Number(head.slice(9, 12));
    const hasBody = job.method !== 'HEAD' && status !== 204 && status !== 304;
    const length = hasBody ? Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN) : 0;
    if (Number.isNaN(length)) {
      socket.destroy(new Error(`The answer has no length:\r\n${head}`));
      return;
    }
    if (received.length < end + 4 + length) return;
    const text = received.toString('utf8', end + 4, end + 4 + length);
    received = received.subarray(end + 4 + length);
    job.resolve(new Answer(status, head, text));
    job = undefined;
    if (/\r\nconnection: close/i.test(head)) {
      socket.destroy();
      return;
    }
    const next = pool.next();
    if (next === undefined) pool.free();
    else take(next);
  });
  socket.on('error', (error) => {
    lost = error;
  });
  socket.on('end', () => socket.destroy());
  socket.on('close', () => {
    job?.reject(lost);
    pool.closed();
  });
  return { take, close: () => socket.destroy() };
}

class Answer implements Sent {
  readonly status: number;
  readonly text: string;
  readonly #head: string;
  #headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, head: string, text: string) {
    this.status = status;
    this.#head = head;
    this.text = text;
  }

  /** Taken apart only if a test reads them. */
  get headers(): Readonly<Record<string, string | undefined>> {
    return (this.#headers ??= headersOf(this.#head));
  }
}

export function headersOf(head: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(': ');
    const [name, value] = [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** Runs `work` once for every item, `width` at a time. */
export async function each<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}
