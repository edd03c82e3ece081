import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as sendRequest } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Lifetime } from './lifetime.ts';

/** A request on its way to the service. */
export interface ProxiedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Of the client. */
  readonly socket: Socket;
}

export interface ProxiedResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Forward = (request: ProxiedRequest) => Promise<ProxiedResponse>;

/** What a faulty service does with a request: `forward` asks the real one. */
export type Behaviour = (request: ProxiedRequest, forward: Forward) => Promise<ProxiedResponse>;

interface FaultyService {
  readonly url: string;
  /** What the service does from now on. */
  behave(behaviour: Behaviour): void;
}

const OWN_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length']);

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  message.on('data', (piece: Buffer) => pieces.push(piece));
  await once(message, 'end');
  return Buffer.concat(pieces);
}

const toRecord = ({ headersDistinct }: IncomingMessage) =>
  Object.fromEntries(
    Object.entries(headersDistinct)
      .filter(([name]) => !OWN_HEADERS.has(name))
      .map(([name, values = []]) => [name, values.join(', ')]),
  );

/** A layer before the service at `target` that answers as it is told. */
export async function startFaultyService(lifetime: Lifetime, target: string): Promise<FaultyService> {
  const agent = new Agent({ keepAlive: true });
  let behave: Behaviour = (request, forward) => forward(request);

  const forward: Forward = async ({ method, path, headers, body }) => {
    const sent = sendRequest(new URL(path, target), { method, headers, agent });
    if (body.length > 0) sent.setHeader('Content-Length', body.length);
    sent.end(body);
    const [received] = (await once(sent, 'response')) as [IncomingMessage];
    const text = (await readAll(received)).toString();
    return { status: received.statusCode ?? 0, headers: toRecord(received), body: text };
  };

  const server = createServer((received, response) => {
    const answer = async () => {
      const { method = '', url: path = '', socket } = received;
      const body = await readAll(received);
      const {
        status,
        headers,
        body: text,
      } = await behave({ method, path, headers: toRecord(received), body, socket }, forward);
      const isBare = method === 'HEAD' || status === 204 || status === 304;
      response.writeHead(status, {
        ...headers,
        ...(!isBare && { 'Content-Length': Buffer.byteLength(text) }),
      });
      response.end(isBare ? undefined : text);
    };
    answer().catch((error: unknown) => response.destroy(error as Error));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  lifetime.after(() => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behave: (behaviour) => {
      behave = behaviour;
    },
  };
}
