// The answers to the example requests of all operations, byte by byte, as they were recorded. They are the same over both databases.
import type { Operation } from '../../src/http/operation.ts';
import { raw } from '../support/api.ts';
import { type Api, startBothApis } from '../support/both-apis.ts';
import { cursorName, exampleRequest, fill } from '../support/ends.ts';
import { setHostileDefaults } from '../support/hostile-defaults.ts';
import { requestText } from '../support/load.ts';
import { test } from '../support/test.ts';
import { compareRecord } from './support/fixture.ts';
import { describeResponse, hideRandom } from './support/normal.ts';

/** What is created is there when it is changed, and what is deleted is no longer needed. */
const METHODS = ['POST', 'PATCH', 'GET', 'DELETE'] as const;

/** Things that no other operation has changed so that this one is refused, instead of those of the examples. */
const UNTOUCHED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'public updatePet': { petId: '41' },
  'admin updatePet': { petId: '41' },
  'public deletePet': { petId: '41' },
  'admin deletePet': { petId: '40' },
  'admin deleteCategory': { categoryId: '9' },
  'admin completeOrder': { orderId: '10' },
  'public cancelOrder': { orderId: '11' },
  'admin cancelOrder': { orderId: '12' },
  'admin liftBan': { keyId: '11' },
  'admin getFailedRequest': { failedRequestId: '1795262400000000' },
};

/** Sends the example of an operation, and says what it was and what was answered. A list has one item a page. */
async function perform({ name, base, prefix, secret }: Api, operation: Operation): Promise<[string, string]> {
  const { method, body } = exampleRequest(operation);
  const query = cursorName(operation) === undefined ? '' : '?limit=1';
  const path = `${prefix}${fill(operation, UNTOUCHED[`${name} ${operation.id}`])}${query}`;
  const headers = { connection: 'close' };
  const sent = { method, path, headers, ...(body !== undefined && { body }) };
  const bytes = requestText({ host: new URL(base).host, key: secret }, sent);
  const response = Buffer.from(await raw(base, bytes), 'latin1').toString();
  const title = `${name} ${operation.id}`;
  const request = [`${method} ${path}`, ...(body === undefined ? [] : [hideRandom(body)])];
  return [title, [...request.map((line) => `> ${line}`), describeResponse(response)].join('\n')];
}

/** The defaults of PostgreSQL are hostile: nothing may depend on them. */
const DATABASES = { SQLite: undefined, PostgreSQL: setHostileDefaults } as const;

for (const [name, prepare] of Object.entries(DATABASES))
  test(`${name}: the example request of every operation is answered as recorded`, async (t) => {
    const apis = await startBothApis(t, name as keyof typeof DATABASES, prepare);
    await apis.public.send({ method: 'GET', path: '/pets?limit=0', headers: { 'x-request-id': 'failed-1' } });
    const seen = new Map<string, string>();
    for (const method of METHODS)
      for (const api of [apis.public, apis.admin])
        for (const operation of api.operations)
          if (operation.method === method) seen.set(...(await perform(api, operation)));
    compareRecord('answers', seen);
  });
