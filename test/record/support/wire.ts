import { connect } from 'node:net';

/** One response as it was on the wire. */
export interface WireResponse {
  readonly status: number;
  /** `200 OK`. */
  readonly statusLine: string;
  /** As sent: names with their case, in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** A connection that gives the responses that arrive on it, whole and in their order. */
export interface WireConnection {
  write(bytes: Buffer | string): void;
  /** The next response to a request of this method; undefined when the service has closed the connection. */
  next(method: string): Promise<WireResponse | undefined>;
  close(): void;
}

/** Opens a connection to the host and port of `base`. */
export async function openConnection(base: string): Promise<WireConnection> {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = Buffer.alloc(0);
  let isClosed = false;
  let wake = () => {};
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  // A service that closes before it has read everything resets the connection after its response.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    write: (bytes) => void socket.write(bytes),
    async next(method) {
      for (;;) {
        const taken = takeResponse(received, method, isClosed);
        if (taken !== undefined) {
          received = received.subarray(taken.length);
          return taken.response;
        }
        if (isClosed) {
          if (received.length > 0) throw new Error(`not a whole response: ${received.toString('latin1')}`);
          return undefined;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    close: () => void socket.destroy(),
  };
}

function takeResponse(
  received: Buffer,
  method: string,
  isClosed: boolean,
): { response: WireResponse; length: number } | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const statusLine = /^HTTP\/1\.1 (\d{3} .*)$/.exec(first)?.[1];
  if (statusLine === undefined) throw new Error(`not a response: ${JSON.stringify(first)}`);
  const status = Number(statusLine.slice(0, 3));
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  const lengthHeader = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
  if (headers.some(([name]) => name.toLowerCase() === 'transfer-encoding'))
    throw new Error('A response in chunks is not expected.');
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
  const start = end + 4;
  if (hasBody && lengthHeader === undefined && !isClosed) return undefined;
  const length = !hasBody ? 0 : lengthHeader === undefined ? received.length - start : Number(lengthHeader);
  if (received.length < start + length) return undefined;
  const body = received.subarray(start, start + length);
  return { response: { status, statusLine, headers, body }, length: start + length };
}
