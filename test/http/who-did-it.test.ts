// Contract: sections 10.2 and 13.1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { sql } from '../../src/storage/sql.ts';
import { type Answer, call } from '../support/api.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { withQuery } from '../support/ends.ts';
import { exampleDatabase } from '../support/example-database.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import type { TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createAccount } from '../support/store.ts';
import { PLANS } from '../../src/domain/plan.ts';

const database = await exampleDatabase(lifetimeOfFile());

/** The name of everybody who did something, and of the account that owns everything. */
const SECRET = 'secret-agent';

/** Somebody else owns and has changed all animals, and made all events. */
async function disguise({ store }: TestService): Promise<void> {
  const { id } = await createAccount(store.accounts, SECRET, 'free', PLANS.free);
  const actor = `operator:${SECRET}`;
  await store.database.fill((filling) =>
    filling.run(
      sql`UPDATE pets SET owner_id = ${id}, changed_by = ${actor}, changed_version = version`,
      sql`UPDATE events SET actor = ${actor}`,
    ),
  );
}

const HIDDEN = new Set(['actor', 'owner', 'ownerId', 'changedAt', 'changedBy', 'changedVersion']);

/** The names of all members of a value, however deep. */
function* listNames(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield* Object.keys(value);
  for (const inner of Object.values(value)) yield* listNames(inner);
}

function assertHidden(text: string, about: string): void {
  assert.ok(!text.includes(SECRET), `${about}: ${text}`);
  if (text === '') return;
  assert.deepEqual(
    [...listNames(JSON.parse(text))].filter((name) => HIDDEN.has(name)),
    [],
    about,
  );
}

const writeHeaders = ({ headers }: Answer) => JSON.stringify([...headers]);

test('no answer to a client says who changed an animal, whose it is, or who did what an event tells', async (t) => {
  for (const operation of OPERATIONS) {
    const service = await database.start(t);
    await disguise(service);
    const { path, ...attempt } = withQuery(operation, '');
    const answer = await call(service.url, `/v1${path}`, { key: database.key, ...attempt });
    assert.ok(answer.status < 300, `${operation.id} ${answer.text}`);
    assertHidden(answer.text, operation.id);
    assertHidden(writeHeaders(answer), operation.id);
    await service.stop();
  }
});

test('no webhook says who did what it tells', async (t) => {
  const service = await database.start(t);
  await disguise(service);
  const { url, received } = await startEndpoint(t);
  const key = await service.issueKey({ account: 'shop', scopes: SCOPES });
  const send = async (path: string, body: object, method = 'POST') => {
    const { status, json, text } = await call(service.url, `/v1${path}`, {
      key,
      method,
      body: JSON.stringify(body),
    });
    assert.ok(status < 300, text);
    return json;
  };
  await send('/webhooks', { url });
  const { id: petId } = await send('/pets', { name: 'Rex', categoryId: 7, status: 'available' });
  await send('/store/orders', { petId });
  await send('/account/keys', {});
  const types = ['pet.created', 'order.created', 'pet.updated', 'key.created'];
  await until(() => received.length >= types.length);
  assert.deepEqual(received.map(({ body }) => JSON.parse(body).type).toSorted(), types.toSorted());
  for (const { body, headers } of received) {
    assertHidden(body, 'the body');
    assert.doesNotMatch(JSON.stringify([body, headers]), /key:\d/);
  }
});
