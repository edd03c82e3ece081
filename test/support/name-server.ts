import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import type { Lifetime } from './lifetime.ts';

/** The addresses of a name, or undefined: it is never answered. */
type Resolve = (name: string, type: Question['type']) => readonly string[] | undefined;

/** A question of DNS: A or AAAA. */
interface Question {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
}

const TYPES = { A: 1, AAAA: 28 } as const;

/** A name server on this machine, until the test is over. `asked`: the questions, with each repetition. */
export async function startNameServer(t: Lifetime, resolve: Resolve) {
  const asked: Question[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const number = message.readUInt16BE(at + 1);
    const type = number === TYPES.A ? 'A' : 'AAAA';
    const name = labels.join('.');
    asked.push({ name, type });
    const found = resolve(name, type)?.filter((each) => isIPv4(each) === (type === 'A'));
    if (found === undefined) return;
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    const records = found.map((each) => {
      const data = toBytes(each);
      // A pointer to the name, type, class, time to live, length.
      const record = Buffer.from([0xc0, 12, 0, number, 0, 1, 0, 0, 0, 60, 0, data.length]);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
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
