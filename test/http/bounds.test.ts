// Contract: sections 3.1 and 4.1.
import assert from 'node:assert/strict';
import type { Operation } from '../../src/http/operation.ts';
import { OPERATIONS, OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { consoleOf } from '../support/console.ts';
import { exampleDatabase } from '../support/example-database.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { keepAliveClient, type Sent } from '../support/load.ts';
import {
  type Attempt,
  endlessLists,
  unknownFields,
  wrongBodies,
  wrongHeaders,
  wrongParameters,
} from '../support/ends.ts';
import { startForFile, test } from '../support/test.ts';

const MOST_CHARACTERS = 1_000;
const MOST_FAULTS = 5;

/** Bytes of an Error body. Characters of messages are ASCII, unless a name is in it. */
const MOST_BYTES = 1_300;

/** Characters that are kept of a failed request. */
const MOST_KEPT = { message: 500, userAgent: 200, requestId: 128, parameter: 64, path: 200, address: 64 };

const file = lifetimeOfFile();

const service = await startForFile(async () => {
  const database = await exampleDatabase(file);
  const started = consoleOf(await database.start(file, { env: { CONSOLE_PORT: '0' } }));
  const token = await started.makeToken('ada');
  const open = (base: string, secret: string, prefix: string) => {
    const client = keepAliveClient(base, secret, 1);
    file.after(() => client.close());
    return async ({ method, path, headers, body }: Attempt): Promise<Sent> => {
      const sent = await client.send(prefix + path, body, { ...headers }, method);
      if (Number(sent.headers['x-ratelimit-remaining'] ?? 1) < 1) started.clock.advance(60_000);
      return sent;
    };
  };
  return {
    public: open(started.url, database.key, '/v1'),
    admin: open(started.listener, token, '/admin/v1'),
  };
});

function assertShort({ status, text }: Sent, about: string): void {
  assert.ok(status < 500, `${status}: ${about}`);
  if (status < 400 || text === '') return;
  const { message } = JSON.parse(text) as { message: string };
  assert.ok(Array.from(message).length <= MOST_CHARACTERS, about);
  assert.ok(message.isWellFormed(), about);
  assert.ok(Buffer.byteLength(text) <= MOST_BYTES, `${Buffer.byteLength(text)} bytes: ${about}`);
  const faults = message.replace(/; and \d+ more faults?\.$/, '').split('; ');
  assert.ok(faults.length <= MOST_FAULTS, `${message}: ${about}`);
}

/** The failed requests that are kept are short. */
async function assertKeptShort(): Promise<void> {
  const { text } = await service.admin({ method: 'GET', path: '/failed-requests?limit=100' });
  const kept = JSON.parse(text) as Record<string, string | undefined>[];
  assert.ok(kept.length > 0);
  for (const row of kept)
    for (const [name, most] of Object.entries(MOST_KEPT))
      assert.ok(Array.from(row[name] ?? '').length <= most, `${name}: ${row[name]?.slice(0, 100)}`);
}

const describe = (attempt: Attempt) => JSON.stringify(attempt).slice(0, 300);

test('each list in a body has a maximum, which is checked before its items', () => {
  for (const operation of [...OPERATIONS, ...OPERATOR_OPERATIONS])
    assert.deepEqual(endlessLists(operation), [], operation.id);
});

const APIS = { public: OPERATIONS, admin: OPERATOR_OPERATIONS } as const;

for (const [api, operations] of Object.entries(APIS) as [keyof typeof APIS, readonly Operation[]][])
  for (const operation of operations) {
    test(`${api}: ${operation.id} answers a request with much wrong in few words`, async () => {
      for (const attempt of wrongBodies(operation)) {
        const sent = await service[api](attempt);
        assertShort(sent, describe(attempt));
        assert.ok(sent.status >= 400, `${sent.status}: ${describe(attempt)}`);
      }
      for (const attempts of [wrongParameters, wrongHeaders, unknownFields])
        for (const attempt of attempts(operation))
          assertShort(await service[api](attempt), describe(attempt));
      if (api === 'public') await assertKeptShort();
    });
  }
