import { readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { PacedConnection } from './paced-connection.ts';

// A load generator that sends at a steady rate, whether the server keeps up or not. A latency counts from the instant
// for which its request was planned, so that a server that stalls cannot hide it by holding up the next requests.
// Run as `node paced.ts PORT FILE STATUS,… CONNECTIONS RATE SECONDS`; prints latencies in milliseconds as JSON.

const [, , port, file = '', statuses = '', connections, rate, seconds] = argv;

/** Seconds that do not count: this program is compiled by then. */
const LEAD = 1;

/** How long answers may be overdue at the end, in milliseconds. */
const PATIENCE = 10_000;

const requests = readFileSync(file, 'utf8')
  .split('\u0001')
  .map((request) => Buffer.from(request));
const expected = new Set(statuses.split(',').map(Number));

const interval = 1000 / Number(rate);
const lead = Math.round(Number(rate) * LEAD);
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

/** Sends what is due, as far as a connection is free. Looks again at once: a timer could only tell milliseconds. */
function send(): void {
  const now = performance.now();
  while (sent < total && planned(sent) <= now && idle.length > 0) {
    idle.shift()?.send(requests[sent % requests.length] ?? Buffer.alloc(0), sent);
    sent++;
  }
  if (answered === total) report();
  else if (now > planned(total) + PATIENCE)
    throw new Error(`${total - answered} of ${total} answers are overdue.`);
  else setImmediate(send);
}

function report(): never {
  const sorted = latencies.subarray(lead).toSorted();
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  console.log(JSON.stringify({ p50: percentile(0.5), p99: percentile(0.99), p999: percentile(0.999) }));
  process.exit();
}
