import { readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { PacedConnection } from './paced-connection.ts';

// A load generator that sends at a steady rate, even if the server does not keep up. A latency counts from the planned
// time of its request, so a server that stalls cannot hide it by delaying the next requests.
// Run as `node paced.ts PORT FILE STATUS,… CONNECTIONS RATE SECONDS`; prints latencies in milliseconds as JSON.

const [, , port, file = '', statuses = '', connections, rate, seconds] = argv;

/** Seconds that do not count, while V8 compiles this program. */
const WARM_UP = 1;

/** Milliseconds that the last answers may be overdue. */
const OVERDUE_MAX = 10_000;

const requests = readFileSync(file, 'utf8')
  .split('\u0001')
  .map((request) => Buffer.from(request));
const expected = new Set(statuses.split(',').map(Number));

const interval = 1000 / Number(rate);
const lead = Math.round(Number(rate) * WARM_UP);
const total = lead + Math.round(Number(rate) * Number(seconds));
const latencies = new Float64Array(total);
const idle: PacedConnection[] = [];
let sent = 0;
let answered = 0;

for (let index = 0; index < Number(connections); index++) {
  const connection = new PacedConnection(Number(port), (status, request) => {
    if (!expected.has(status)) throw new Error(`An answer had the status ${status}.`);
    latencies[request] = performance.now() - planned(request);
    answered++;
    idle.push(connection);
  });
  await connection.opened;
  idle.push(connection);
}
const begin = performance.now();
send();

function planned(request: number): number {
  return begin + request * interval;
}

/** Sends the requests that are due while a connection is free. It runs in every turn: timers only have milliseconds. */
function send(): void {
  const now = performance.now();
  while (sent < total && planned(sent) <= now && idle.length > 0) {
    idle.shift()?.send(requests[sent % requests.length] ?? Buffer.alloc(0), sent);
    sent++;
  }
  if (answered === total) report();
  else if (now > planned(total) + OVERDUE_MAX)
    throw new Error(`${total - answered} of ${total} answers are overdue.`);
  else setImmediate(send);
}

function report(): never {
  const sorted = latencies.subarray(lead).toSorted();
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  console.log(JSON.stringify({ p50: percentile(0.5), p99: percentile(0.99), p999: percentile(0.999) }));
  process.exit();
}
