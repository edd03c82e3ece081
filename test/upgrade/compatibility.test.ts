// Contract: section 9 of the specification.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { openApi } from '../../src/description/openapi.ts';
import { findBreaks } from './compatibility.ts';

const current = JSON.parse(openApi(EXAMPLE_URLS, EXAMPLE_URLS.production).json);

/** What the description of 1.0.0 did not say and its service did: it refused such values, or read over them. */
const SAID_LATER = [
  'GET /pets query limit: format undefined is now int32',
  'GET /pets query cursor: pattern undefined is now ^[A-Za-z0-9_-]+$',
  'GET /pets query cursor: maxLength is now 64',
  ...['GET /pets', 'GET /pets/{petId}'].flatMap((operation) => [
    `${operation} header If-None-Match: pattern undefined is now ^(?:\\*|(?:W/)?"[^"]*"(?: *, *(?:W/)?"[^"]*")*)$`,
    `${operation} header If-None-Match: maxLength is now 8192`,
    `${operation} header X-Request-Id: maxLength is now 128`,
  ]),
  'POST /pets header Idempotency-Key: maxLength is now 255',
  'POST /pets header X-Request-Id: maxLength is now 128',
];

for (const file of globSync('*/openapi.json', { cwd: import.meta.dirname }))
  test(`clients of ${file.split('/')[0]} need no change`, () => {
    const before = JSON.parse(readFileSync(`${import.meta.dirname}/${file}`, 'utf8'));
    assert.deepEqual(new Set(findBreaks(before, current)), new Set(SAID_LATER));
  });

/** Changes of the description, each with what it breaks. */
const CHANGES: readonly (readonly [change: (description: any) => void, broken: string])[] = [
  [({ paths }) => delete paths['/pets'].get, 'GET /pets: the operation is gone'],
  [({ paths }) => delete paths['/pets'].post.responses[201], 'POST /pets 201: the response is gone'],
  [
    ({ paths }) => delete paths['/pets'].post.responses[201].headers.Location,
    'POST /pets 201 Location: the header is gone',
  ],
  [
    ({ paths }) => paths['/pets'].post.security[0].apiKey.push('pets:manage'),
    'POST /pets: needs pets:manage now',
  ],
  [({ paths }) => paths['/pets'].get.parameters.splice(0, 1), 'GET /pets query limit: the parameter is gone'],
  [
    ({ paths }) =>
      paths['/pets'].get.parameters.push({ in: 'query', name: 'sort', required: true, schema: {} }),
    'GET /pets query sort: the parameter is now required',
  ],
  [
    ({ components }) => delete components.schemas.Pet.properties.categoryId,
    'POST /pets 201.categoryId: the field is gone',
  ],
  [
    ({ components }) => components.schemas.Pet.required.splice(0, 1),
    'POST /pets 201.name: the field may now be absent',
  ],
  [
    ({ components }) => components.schemas.NewPet.required.push('status'),
    'POST /pets body.status: the field is now required',
  ],
  [
    ({ components }) => {
      components.schemas.NewPet.properties.name.maxLength = 100;
    },
    'POST /pets body.name: maxLength is now 100',
  ],
  [
    ({ components }) => {
      components.schemas.NewPet.additionalProperties = false;
    },
    'POST /pets body: other fields are now refused',
  ],
  [
    ({ components }) => {
      components.schemas.Pet.properties.id.type = 'string';
    },
    'POST /pets 201.id: type integer is now string',
  ],
  [
    ({ components }) => components.schemas.PetStatus.enum.push('lost'),
    'POST /pets 201.status: may now be "lost"',
  ],
  [
    ({ components }) => components.schemas.PetStatus.enum.splice(0, 1),
    'POST /pets body.status: no longer takes "available"',
  ],
];

for (const [change, broken] of CHANGES)
  test(`a change is found that breaks clients: ${broken}`, () => {
    const changed = structuredClone(current);
    change(changed);
    assert.ok(findBreaks(current, changed).includes(broken), findBreaks(current, changed).join('\n'));
  });

test('what may change in /v1 breaks nothing', () => {
  const changed = structuredClone(current);
  const { paths, components } = changed;
  paths['/shelters'] = { get: { responses: {} } };
  paths['/pets'].get.parameters.push({ in: 'query', name: 'sort', schema: { type: 'string' } });
  components.schemas.Pet.properties.microchip = { type: 'string' };
  components.schemas.NewPet.properties.microchip = { type: 'string' };
  components.schemas.Error.properties.code.enum.push('teapot');
  delete paths['/store/orders'];
  assert.deepEqual(findBreaks(current, changed), []);
});
