// Contract: section 2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { each, keepAliveClient } from '../support/load.ts';
import { startTestService } from '../support/service.ts';

const COUNT = 100_000;

/** Random int64 of every magnitude: as many small ones as huge ones, with both ends. */
function randomInt64s(count: number): string[] {
  const bits = new BigInt64Array(count);
  crypto.getRandomValues(new Uint8Array(bits.buffer, 0, 65_536));
  for (let offset = 65_536; offset < bits.byteLength; offset += 65_536) {
    crypto.getRandomValues(new Uint8Array(bits.buffer, offset, Math.min(65_536, bits.byteLength - offset)));
  }
  const values = Array.from(bits, (value, index) => String(value >> BigInt(index % 64)));
  return ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0', ...values.slice(4)];
}

test('100,000 random int64 pass through create, get and list unchanged', async (t) => {
  const service = await startTestService(t, { env: { LOG_LEVEL: 'warn' } });
  const client = keepAliveClient(service.url, await service.issueKey(), 64);
  t.after(client.close);
  const byId = new Map<string, string>();
  const pet = (id: string, value: string) => `{"id":${id},"name":"Rex","categoryId":${value}}`;

  await each(randomInt64s(COUNT), 64, async (value) => {
    const { status, text } = await client.send('/v1/pets', `{"name":"Rex","categoryId":${value}}`);
    const id = /^\{"id":(\d+),/.exec(text)?.[1] ?? '';
    assert.equal(status, 201);
    assert.equal(text, pet(id, value));
    assert.ok(!byId.has(id));
    byId.set(id, value);
  });

  await each([...byId], 64, async ([id, value]) => {
    assert.equal((await client.send(`/v1/pets/${id}`)).text, pet(id, value));
  });

  let path: string | undefined = '/v1/pets?limit=100';
  let listed = 0;
  while (path !== undefined) {
    const { text, headers } = await client.send(path);
    for (const [, id = '', value] of text.matchAll(/\{"id":(\d+),"name":"Rex","categoryId":(-?\d+)\}/g)) {
      assert.equal(value, byId.get(id));
      listed++;
    }
    path = /<[^>]*(\/v1\/pets\?[^>]*)>/.exec(String(headers['link'] ?? ''))?.[1];
  }
  assert.equal(listed, COUNT);
});
