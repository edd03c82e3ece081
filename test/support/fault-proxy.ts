import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** What goes wrong with one request on its way to the service or back. */
export type Fault =
  /** The connection is cut, and the service never sees the request. */
  | 'request lost'
  /** The service did what was asked for, and the connection is cut before it can say so. */
  | 'answer lost'
  /** The connection is cut in the middle of the answer. */
  | 'half an answer'
  /** Nothing ever comes back, and the connection stays open. */
  | 'silence'
  /** The proxy answers by itself. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

interface FaultProxy {
  /** The address of the service by way of this proxy. */
  readonly url: string;
  /** The requests that came, as they came. */
  readonly requests: readonly IncomingMessage[];
}

/**
 * A proxy in front of the service at `target` until the test is over. `faultOf` is asked for every request, with how
 * many came before it.
 */
export async function startFaultProxy(
  t: TestContext,
  target: string,
  faultOf: (before: number, asked: IncomingMessage) => Fault | undefined,
): Promise<FaultProxy> {
  const requests: IncomingMessage[] = [];
  const agent = new Agent({ keepAlive: true });
  const server = createServer((asked, answer) => {
    const fault = faultOf(requests.length, asked);
    requests.push(asked);
    // Each request has a connection of its own, so that a cut hits that one and no other.
    answer.setHeader('Connection', 'close');
    if (fault === 'silence') return;
    if (fault === 'request lost') {
      asked.socket.destroy();
      return;
    }
    if (typeof fault === 'object') {
      answer.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    forward(asked, answer, fault);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };

  function forward(
    asked: IncomingMessage,
    answer: ServerResponse,
    fault: 'answer lost' | 'half an answer' | undefined,
  ) {
    const { method, headers } = asked;
    const path = asked.url ?? '/';
    const sent = request(new URL(path, target), { method, headers, agent }, (received) => {
      const chunks: Buffer[] = [];
      received.on('data', (chunk: Buffer) => chunks.push(chunk));
      received.on('end', () => {
        if (fault === 'answer lost') asked.socket.destroy();
        else pass(received, Buffer.concat(chunks), fault === undefined);
      });
    });
    function pass(received: IncomingMessage, body: Buffer, isWhole: boolean) {
      for (const [name, value] of Object.entries(received.headers)) {
        if (value !== undefined && !/^(?:connection|keep-alive)$/.test(name)) answer.setHeader(name, value);
      }
      answer.writeHead(received.statusCode ?? 500);
      if (isWhole) answer.end(body);
      else answer.write(body.subarray(0, body.length / 2), () => asked.socket.destroy());
    }
    sent.on('error', () => asked.socket.destroy());
    asked.pipe(sent);
  }
}
