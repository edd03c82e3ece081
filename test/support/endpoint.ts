import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Lifetime } from './lifetime.ts';

/** A request that an endpoint got. */
export interface Received {
  /** From `/hooks`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What an endpoint answers: a status, which may come later, with headers. */
export type Reply = number | readonly [status: number, headers: Record<string, string>];

/** Chooses the answer to a request. `index`: requests that came before. */
type Choose = (request: Received, index: number) => Reply | Promise<Reply>;

/**
 * An endpoint of webhooks on this machine, until the test is over. It answers with these statuses in turn, and then with 204, or as
 * `replies` chooses.
 */
export async function startEndpoint(t: Lifetime, replies: readonly number[] | Choose = []) {
  const received: Received[] = [];
  const choose: Choose = typeof replies === 'function' ? replies : (_, index) => replies[index] ?? 204;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const index = received.length;
    const message = { path: request.url ?? '', headers: request.headers, body: '' };
    received.push(message);
    message.body = await text(request);
    const reply = await choose(message, index);
    const [status, headers] = typeof reply === 'number' ? [reply, { Location: '/' }] : reply;
    response.writeHead(status, headers).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/hooks`, received };
}
