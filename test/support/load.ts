import { Agent, request } from 'node:http';

export interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A client that keeps its connections open, for tests that send many requests. */
export function keepAliveClient(base: string, key: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(base);
  const send = (
    path: string,
    body?: string,
    headers: Record<string, string> = {},
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Sent> => {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent,
          host: hostname,
          port,
          path,
          method,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body !== undefined && {
              'content-type': 'application/json',
              'content-length': String(Buffer.byteLength(body)),
            }),
            ...headers,
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  };
  return { send, close: () => agent.destroy() };
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
