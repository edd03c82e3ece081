// Contract: section 2.
import { rounds } from '../support/rounds.ts';
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { keepAliveClient } from '../support/load.ts';
import { type RawResponse, ResponseReader } from '../support/responses.ts';
import { startTestService } from '../support/service.ts';

const RANDOM = rounds(100_000);

/** The most that `getRandomValues` gives at once. */
const RANDOM_BYTES = 65_536;

const CONNECTIONS = 64;

/** Requests that a connection sends before it reads their answers. One at a time takes half as long again. */
const AHEAD = 50;

const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Every power of two and of ten with its neighbours, where an exact number has one digit or bit more. */
function edges(): bigint[] {
  const powers = [2n, 10n].flatMap((base) =>
    Array.from({ length: base === 2n ? 64 : 19 }, (_, power) => base ** BigInt(power)),
  );
  return [0n, MIN, MAX, ...powers.flatMap((power) => [power - 1n, power, power + 1n])]
    .flatMap((value) => [value, -value])
    .filter((value) => value >= MIN && value <= MAX);
}

/** Random int64 of every magnitude: as many small ones as huge ones. */
function randomInt64s(count: number): bigint[] {
  const bits = new BigInt64Array(count);
  for (let offset = 0; offset < bits.byteLength; offset += RANDOM_BYTES) {
    const length = Math.min(RANDOM_BYTES, bits.byteLength - offset);
    crypto.getRandomValues(new Uint8Array(bits.buffer, offset, length));
  }
  return Array.from(bits, (value, index) => value >> BigInt(index % 64));
}

/** Sends the requests on one connection and returns their answers. */
async function converse(port: number, requests: readonly string[]): Promise<readonly RawResponse[]> {
  const reader = new ResponseReader([]);
  const socket = connect(port, '127.0.0.1');
  let sent = 0;
  const sendMore = () => {
    const next = requests.slice(sent, sent + AHEAD);
    sent += next.length;
    socket.write(next.join(''));
  };
  sendMore();
  for await (const chunk of socket) {
    reader.push(chunk as Buffer);
    if (reader.responses.length === requests.length) break;
    if (reader.responses.length === sent) sendMore();
  }
  return reader.responses;
}

/** Sends a request for each item, on many connections at once, and judges each answer. */
async function askForEach<T>(
  url: string,
  items: readonly T[],
  requestOf: (item: T) => string,
  judge: (item: T, answer: RawResponse | undefined) => void,
): Promise<void> {
  const share = Math.ceil(items.length / CONNECTIONS);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, connection) => {
      const its = items.slice(connection * share, (connection + 1) * share);
      const answers = await converse(Number(new URL(url).port), its.map(requestOf));
      for (const [index, item] of its.entries()) judge(item, answers[index]);
    }),
  );
}

test('random int64 and all edges pass through create, get and list unchanged', async (t) => {
  const service = await startTestService(t, { env: { LOG_LEVEL: 'warn' } });
  const key = await service.issueKey();
  const client = keepAliveClient(service.url, key, 1);
  t.after(client.close);
  const values = [...edges(), ...randomInt64s(RANDOM)].map(String);
  const byId = new Map<string, string>();
  const pet = (id: string, value: string) => `{"id":${id},"name":"Rex","categoryId":${value}}`;
  const caller = `HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${key}\r\n`;

  await askForEach(
    service.url,
    values,
    (value) => {
      const body = `{"name":"Rex","categoryId":${value}}`;
      return `POST /v1/pets ${caller}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    },
    (value, answer) => {
      const id = /^\{"id":(\d+),/.exec(answer?.body ?? '')?.[1] ?? '';
      assert.equal(answer?.status, 201);
      assert.equal(answer.body, pet(id, value));
      assert.ok(!byId.has(id));
      byId.set(id, value);
    },
  );

  await askForEach(
    service.url,
    [...byId],
    ([id]) => `GET /v1/pets/${id} ${caller}\r\n`,
    ([id, value], answer) => assert.equal(answer?.body, pet(id, value)),
  );

  let path: string | undefined = '/v1/pets?limit=100';
  let listed = 0;
  while (path !== undefined) {
    const { text, headers } = await client.send(path);
    for (const [, id = '', value] of text.matchAll(/\{"id":(\d+),"name":"Rex","categoryId":(-?\d+)\}/g)) {
      assert.equal(value, byId.get(id));
      listed++;
    }
    path = /<[^>]*(\/v1\/pets\?[^>]*)>/.exec(headers['link'] ?? '')?.[1];
  }
  assert.equal(listed, values.length);
});
