/* A thread that sends one request after the other on many connections, whatever it is answered. */
import { workerData } from 'node:worker_threads';
import { keepAliveClient } from './load.ts';

const { url, key, connections } = workerData as { url: string; key: string; connections: number };
const client = keepAliveClient(url, key, connections);

async function sendOn(): Promise<never> {
  for (;;) await client.send('/v1/pets');
}

await Promise.all(Array.from({ length: connections }, sendOn));
