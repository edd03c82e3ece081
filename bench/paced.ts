import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { argv } from 'node:process';

// A load generator that sends at a steady rate, even if the server does not keep up. A latency counts from the planned
// time of its request, so a server that stalls cannot hide it by delaying the next requests.
// Run as `node paced.ts PORT FILE STATUS,… CONNECTIONS RATE SECONDS`; prints latencies in milliseconds as JSON.

const [, , port, file = '', statuses = '', connections, rate, seconds] = argv;

/** Seconds that do not count, while V8 compiles this program. */
const WARM_UP = 1;

/** Milliseconds that the last answers may be overdue. */
const OVERDUE_MAX = 10_000;

const BUFFER_SIZE = 65_536;
const HEAD = /^HTTP\/1\.1 (\d+) .*?\r\nContent-Length: (\d+)\r\n/s;
const HEAD_END = '\r\n\r\n';

const requests = readFileSync(file, 'utf8')
  .split('\u0001')
  .map((request) => Buffer.from(request));
const expected = new Set(statuses.split(','));

const interval = 1000 / Number(rate);
const lead = Math.round(Number(rate) * WARM_UP);
const total = lead + Math.round(Number(rate) * Number(seconds));
const latencies = new Float64Array(total);

/** A connection that waits for nothing. It sends a request by its number. */
type Connection = (request: number) => void;
const idle: Connection[] = [];
let sent = 0;
let answered = 0;

while (idle.length < Number(connections)) idle.push(await openConnection());
const begin = performance.now();
sendDue();

/** Its error ends the process. It reads answers into one buffer, because garbage would delay this program. */
async function openConnection(): Promise<Connection> {
  let request = -1;
  /** Octets of the answer that are still to come. */
  let missing = 0;
  const read = (length: number, buffer: Uint8Array): boolean => {
    missing = missing === 0 ? answerLength(buffer as Buffer, length) - length : missing - length;
    if (missing > 0) return true;
    latencies[request] = performance.now() - planned(request);
    answered++;
    idle.push(send);
    return true;
  };
  const onread = { buffer: Buffer.allocUnsafe(BUFFER_SIZE), callback: read };
  const socket: Socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true, onread });
  const send = (number: number) => {
    request = number;
    socket.write(requests[number % requests.length] ?? '');
  };
  await once(socket, 'connect');
  socket.on('close', () => {
    throw new Error('The server closed a connection.');
  });
  return send;
}

/** Octets of the answer whose first chunk this is. The chunk holds the whole head. */
function answerLength(buffer: Buffer, received: number): number {
  const end = buffer.indexOf(HEAD_END) + HEAD_END.length;
  const [, status = '', length] = HEAD.exec(buffer.toString('latin1', 0, Math.min(end, received))) ?? [];
  if (!expected.has(status)) throw new Error(`An answer had the status ${status}.`);
  return end + Number(length);
}

function planned(request: number): number {
  return begin + request * interval;
}

/** Sends the requests that are due while a connection is free. It runs in every turn: timers only have milliseconds. */
function sendDue(): void {
  const now = performance.now();
  while (sent < total && planned(sent) <= now && idle.length > 0) idle.shift()?.(sent++);
  if (answered === total) report();
  else if (now > planned(total) + OVERDUE_MAX)
    throw new Error(`${total - answered} of ${total} answers are overdue.`);
  else setImmediate(sendDue);
}

function report(): never {
  const sorted = latencies.subarray(lead).toSorted();
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  console.log(JSON.stringify({ p50: percentile(0.5), p99: percentile(0.99) }));
  process.exit();
}
