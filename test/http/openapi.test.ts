// Contract: sections 1, 2, 3, 4, 5, 6 and 9.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { z } from 'zod';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { ERROR_CODES, type ErrorCode, ERRORS } from '../../src/domain/errors.ts';
import { listExamples } from '../../src/domain/fields.ts';
import { parseBody } from '../../src/domain/parse.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { OPERATIONS, RESOURCES } from '../../src/resources/operations.ts';
import { sunsetDate } from '../../src/http/operation.ts';
import { LIMIT } from '../../src/http/parameters.ts';
import { GET_PET_DEPRECATION } from '../../src/resources/pets/operations.ts';
import { ErrorBody } from '../../src/description/schemas.ts';
import { bindOperations, Routes } from '../../src/http/routes.ts';
import { type Description, openApi } from '../../src/description/openapi.ts';
import type { OperationObject } from '../../src/description/operations.ts';
import type { Response, Schema } from '../../src/description/types.ts';

const generated = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
const { document } = generated;
const published: Published = JSON.parse(generated.json);
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

/** What `openapi.json` adds: responses as components, which a description beside the reference replaces. */
interface Published extends Omit<Description, 'paths' | 'components'> {
  paths: Record<string, Record<string, { responses: Record<string, Response & { $ref?: string }> }>>;
  components: Description['components'] & { responses: Record<string, Response> };
}

function operation(id: string): OperationObject {
  const found = operations.find(({ operationId }) => operationId === id);
  assert.ok(found !== undefined, `${id} is described`);
  return found;
}

function isRefusal(value: unknown): value is { code: string; status: number } {
  return typeof value === 'object' && value !== null && 'code' in value;
}

/** A value as the API would read it: integers exact. */
function received(value: unknown): unknown {
  return parseBody(Buffer.from(JSON.stringify(value)));
}

/** Has all that operations use, and is never called. */
const UNOPENED = new Proxy({}, { has: () => true }) as never;

test('the committed description is the generated one', () => {
  const committed = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  assert.ok(committed === `${generated.json}\n`, 'openapi.json is out of date: run npm run openapi');
});

test('the description is OpenAPI 3.1 of API version 1.0.0, the same in JSON and YAML', async () => {
  assert.match(document.openapi, /^3\.1\./);
  assert.equal(document.info.version, '1.0.0');
  assert.deepEqual(parse(await generated.yaml()), published);
});

test('what is published is the description, with responses as components', () => {
  /** The code and the status of an example. Those of a component have the messages of its first operation. */
  const withoutMessages = ({ content, ...rest }: Response) => ({
    ...rest,
    schema: content?.['application/json'].schema,
    examples: Object.entries(content?.['application/json'].examples ?? {}).map(([name, { value }]) =>
      isRefusal(value) ? [name, value.code, value.status] : value,
    ),
  });
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, { responses, 'x-codeSamples': _samples, ...rest }] of Object.entries(item)) {
      const { responses: shared = {}, ...same } = published.paths[path]?.[method] ?? {};
      assert.deepEqual(same, rest);
      assert.deepEqual(Object.keys(shared), Object.keys(responses));
      for (const [status, { $ref, ...override }] of Object.entries(shared)) {
        const component = published.components.responses[$ref?.split('/').at(-1) ?? ''];
        const resolved = { ...component, ...override } as Response;
        const expected = responses[status] ?? assert.fail(status);
        assert.deepEqual(withoutMessages(resolved), withoutMessages(expected), `${method} ${path} ${status}`);
      }
    }
  assert.deepEqual(published.webhooks, document.webhooks);
  const { responses: _responses, ...components } = published.components;
  assert.deepEqual(components, document.components);
});

test('no response of an operation repeats that of another one', () => {
  const inline = Object.values(published.paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ responses }) => Object.values(responses))
    .filter(({ $ref }) => $ref === undefined)
    .map((response) => JSON.stringify(response));
  assert.equal(new Set(inline).size, inline.length);
});

test('both environments are servers, and each resource is a group', () => {
  assert.deepEqual(
    document.servers.map(({ url, description }) => [description, url]),
    [
      ['Production', EXAMPLE_URLS.production],
      ['Staging', EXAMPLE_URLS.staging],
    ],
  );
  const groups = document.tags.map(({ name }) => name);
  assert.deepEqual(
    groups,
    RESOURCES.map(({ name }) => name),
  );
  for (const name of ['Pets', 'Store']) assert.ok(groups.includes(name));
});

test('every $ref resolves, and every component is used', () => {
  const references = new Set<string>();
  JSON.stringify(published, (key, value: unknown) => {
    if (key === '$ref') references.add(String(value));
    return value;
  });
  const { schemas, parameters, headers, responses } = published.components;
  const components = Object.entries({ schemas, parameters, headers, responses }).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  );
  assert.deepEqual([...references].toSorted(), components.toSorted());
});

test('described and routed operations are the same, with the same scopes', () => {
  const routes = new Routes(bindOperations(OPERATIONS, UNOPENED, EXAMPLE_URLS.production), '/v1');
  for (const [path, item] of Object.entries(document.paths)) {
    const routed = routes.match(`/v1${path.replaceAll(/\{\w+\}/g, '1')}`)?.route;
    assert.equal(routed?.template, `/v1${path}`);
    const { HEAD: _asGet, ...byMethod } = routed.operations;
    assert.deepEqual(
      Object.entries(item).map(([method, { operationId, security }]) => [method, operationId, security]),
      Object.entries(byMethod).map(([method, its]) => {
        const { id, scope } = its?.declaration ?? assert.fail();
        return [method.toLowerCase(), id, [{ apiKey: scope === undefined ? [] : [scope] }]];
      }),
    );
  }
  assert.deepEqual(
    operations.map(({ operationId }) => operationId),
    OPERATIONS.map(({ id }) => id),
  );
});

test('the API key is a bearer token', () => {
  const { apiKey } = document.components.securitySchemes;
  assert.equal(apiKey?.['type'], 'http');
  assert.equal(apiKey?.['scheme'], 'bearer');
});

test('int64 is described as integer with format int64, and required fields as required', () => {
  const { NewPet: newPet, Pet: pet } = document.components.schemas;
  assert.deepEqual(newPet?.required, ['name', 'categoryId']);
  assert.deepEqual(pet?.required?.toSorted(), ['categoryId', 'id', 'name']);
  for (const property of [newPet?.properties?.['categoryId'], pet?.properties?.['id']]) {
    assert.ok(typeof property === 'object');
    assert.equal(property.type, 'integer');
    assert.equal(property.format, 'int64');
  }
});

test('limit is described with its real bounds and default', () => {
  const { limit } = document.components.parameters;
  assert.deepEqual(limit?.schema, { type: 'integer', format: 'int32', ...LIMIT });
});

test('every error response lists its codes and has a valid example of each', () => {
  const described = new Set<string>();
  for (const each of operations) {
    for (const [status, { content }] of Object.entries(each.responses)) {
      const media = content?.['application/json'];
      if (media === undefined || status < '400' || status === 'default') continue;
      const { code } = (media.schema as Schema).properties as { code: { enum: ErrorCode[] } };
      assert.deepEqual(Object.keys(media.examples), code.enum, `${each.operationId} ${status}`);
      for (const [name, { value }] of Object.entries(media.examples)) {
        const body = ErrorBody.parse(value);
        assert.equal(body.code, name);
        assert.equal(body.status, ERRORS[body.code].status);
        assert.equal(body.status, Number(status));
        described.add(name);
      }
    }
  }
  // Another method is another operation, or none: 405 is in the guide alone.
  assert.deepEqual(
    ERROR_CODES.filter((code) => !described.has(code)),
    ['method_not_allowed'],
  );
});

test('every operation lists the statuses that it can answer', () => {
  const any = ['401', '403', '429', '500', '503', 'default'];
  const statuses = (id: string) => Object.keys(operation(id).responses).toSorted();
  assert.deepEqual(statuses('listPets'), ['200', '304', '400', ...any].toSorted());
  assert.deepEqual(statuses('createPet'), ['201', '400', '409', '413', '415', '422', ...any].toSorted());
  assert.deepEqual(statuses('getPet'), ['200', '304', '404', '410', ...any].toSorted());
  const patched = ['200', '400', '404', '409', '412', '413', '415', ...any].toSorted();
  assert.deepEqual(statuses('updatePet'), patched);
  assert.deepEqual(statuses('updateCategory'), patched);
  for (const id of ['deletePet', 'cancelOrder'])
    assert.deepEqual(statuses(id), ['204', '400', '404', '409', '412', ...any].toSorted());
  assert.deepEqual(statuses('completeOrder'), ['200', '400', '404', '409', '422', ...any].toSorted());
});

test('a PATCH takes a merge patch or JSON, and a 204 has no content', () => {
  for (const { id, method, body, answer } of OPERATIONS) {
    const { requestBody, responses } = operation(id);
    const types =
      method === 'PATCH' ? ['application/merge-patch+json', 'application/json'] : ['application/json'];
    assert.deepEqual(Object.keys(requestBody?.content ?? {}), body === undefined ? [] : types, id);
    const { status } = answer;
    assert.equal(responses[status]?.content === undefined, status === 204, `${id} ${status}`);
  }
});

test('the schemas accept every example of a body and of an answer', () => {
  for (const { id, body, answer } of OPERATIONS) {
    for (const { value } of Object.values(body?.examples ?? {}))
      assert.ok(body?.schema.safeParse(received(value)).success, id);
    for (const { value } of Object.values(answer.content?.examples ?? {}))
      assert.ok(answer.content?.schema.safeParse(received(value)).success, id);
  }
});

test('every response is described with the rate headers, and 429 with Retry-After', () => {
  for (const each of operations) {
    for (const [status, { headers }] of Object.entries(each.responses)) {
      for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']) {
        assert.ok(name in headers, `${each.operationId} ${status} ${name}`);
      }
    }
    assert.ok('Retry-After' in (each.responses['429']?.headers ?? {}));
  }
});

test('every schema has an example, and an operation shows all of its body', () => {
  for (const [name, { examples = [] }] of Object.entries(document.components.schemas))
    assert.notEqual(examples.length, 0, name);
  for (const { id, body } of OPERATIONS)
    assert.equal(
      Object.keys(body?.examples ?? {}).length,
      (body === undefined ? [] : listExamples(body.schema)).length,
      id,
    );
});

test('a list shows two things, or those that its schema has, and none', () => {
  for (const { id, answer } of OPERATIONS) {
    const { schema, examples = {} } = answer.content ?? {};
    if (!('empty' in examples)) continue;
    const { element } = schema as z.ZodArray<z.ZodType>;
    const shown = Object.values(examples).map(({ value }) => value);
    assert.deepEqual(shown, [listExamples(element).slice(0, 2), []], id);
  }
});

test('the plan table of the guide has the enforced limits', () => {
  for (const [plan, limits] of Object.entries(PLANS)) {
    const row = document.info.description
      .split('\n')
      .find((line) => line.toLowerCase().startsWith(`| ${plan} |`));
    const numbers = row
      ?.replaceAll(',', '')
      .split(' | ')
      .slice(1)
      .map((cell) => cell.replace(' |', ''));
    const [perMinute, perDay] = limits === 'custom' ? [limits, limits] : [limits.perMinute, limits.perDay];
    assert.deepEqual(numbers, [String(perMinute), String(perDay)]);
  }
});

test('the error table of the guide has every code with its status', () => {
  for (const code of ERROR_CODES) {
    assert.ok(document.info.description.includes(`\n| ${ERRORS[code].status} | \`${code}\` | `), code);
  }
});

test('getPet alone is deprecated, with its removal date', () => {
  assert.equal(sunsetDate(GET_PET_DEPRECATION), '2030-12-05');
  assert.deepEqual(
    operations
      .filter((each) => 'deprecated' in each || 'x-deprecated-sunset' in each)
      .map((each) => [
        each.operationId,
        each.deprecated,
        each['x-deprecated-sunset'],
        each['x-deprecated-successor'],
      ]),
    [['getPet', true, '2030-12-05', 'GET /pets']],
  );
  for (const [status, { headers }] of Object.entries(operation('getPet').responses)) {
    if (status === 'default') continue;
    for (const name of ['Deprecation', 'Sunset', 'Link']) assert.ok(name in headers, `${status} ${name}`);
  }
});
