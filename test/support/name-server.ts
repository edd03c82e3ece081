import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv4 } from 'node:net';
import type { Lifetime } from './lifetime.ts';
import { startTcpProxy } from './tcp-proxy.ts';

/** The addresses of a name, or undefined: it is never answered. */
type Resolve = (name: string, type: Question['type']) => readonly string[] | undefined;

/** A question of DNS: A or AAAA. */
interface Question {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
}

const TYPES = { A: 1, AAAA: 28 } as const;

/** The flags of an answer that is too long. */
const TRUNCATED = 0x8380;

/** A name server on this machine, until the test is over. `asked`: the questions, with each repetition. */
export async function startNameServer(t: Lifetime, resolve: Resolve) {
  const asked: Question[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name, type } = parseQuestion(message);
    asked.push({ name, type });
    const found = resolve(name, type);
    if (found !== undefined) socket.send(toAnswer(message, found), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

/** A name server whose answers are too long for UDP, so that it is asked over TCP, by way of a proxy. */
export async function startProxiedNameServer(t: Lifetime, resolve: (name: string) => readonly string[]) {
  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      // The length of a message comes before it.
      for (let end = 2; received.length >= 2 && received.length >= (end = 2 + received.readUInt16BE()); ) {
        const message = received.subarray(2, end);
        const answer = toAnswer(message, resolve(parseQuestion(message).name));
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
        received = received.subarray(end);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const proxy = await startTcpProxy(t, `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { host: address, port } = new URL(proxy.url);
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const answer = toAnswer(message, []);
    answer.writeUInt16BE(TRUNCATED, 2);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(Number(port), '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { address, proxy };
}

function parseQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1) === TYPES.A ? 'A' : 'AAAA';
  return { name: labels.join('.'), type };
}

/** The answer to a message with one question: those of the addresses that it asks for. */
function toAnswer(message: Buffer, addresses: readonly string[]): Buffer {
  const { name, type } = parseQuestion(message);
  const found = addresses.filter((each) => isIPv4(each) === (type === 'A'));
  const head = Buffer.alloc(12);
  message.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(found.length, 6);
  const records = found.map((each) => {
    const data = toBytes(each);
    // A pointer to the name, type, class, time to live, length.
    const record = Buffer.from([0xc0, 12, 0, TYPES[type], 0, 1, 0, 0, 0, 60, 0, data.length]);
    return Buffer.concat([record, data]);
  });
  // Each label has a byte of length before it; the name ends with an empty one, before type and class.
  return Buffer.concat([head, message.subarray(12, 12 + name.length + 2 + 4), ...records]);
}

function toBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const [before, after] = [head, tail].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return Buffer.from([...before, ...zeros, ...after].map((part) => part.padStart(4, '0')).join(''), 'hex');
}
