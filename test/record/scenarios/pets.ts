import type { Scenario } from '../support/scenario.ts';

const MERGE = { 'Content-Type': 'application/merge-patch+json' };
const REX = { name: 'Rex', categoryId: 7, status: 'available' };

export const PETS: Scenario = {
  name: 'pets',
  keys: {
    key: {},
    reader: { scopes: ['pets:read'] },
    writer: { scopes: ['pets:write'] },
    other: { account: 'other' },
    partner: { account: 'other', scopes: ['pets:read', 'pets:write'] },
  },
  rows: [
    // createPet
    ['add an animal', { send: 'POST /v1/pets', body: REX }],
    ['add one without status', { send: 'POST /v1/pets', body: { name: 'Max', categoryId: 7 } }],
    [
      'add one with the smallest category',
      { send: 'POST /v1/pets', body: '{"name":"Low","categoryId":-9223372036854775808,"status":"sold"}' },
    ],
    [
      'add one with the largest category',
      { send: 'POST /v1/pets', body: '{"categoryId":9223372036854775807,"name":"High","status":"pending"}' },
    ],
    [
      'add one with other spellings of integers',
      { send: 'POST /v1/pets', body: '{"name":"e","categoryId":1.0e3,"id":99,"more":{"a":[1]}}' },
    ],
    [
      'add one with a name of many scripts',
      {
        send: 'POST /v1/pets',
        body: '{"name":"e\\u0301 \\"ﷺ\\" </script> \\u2028 🐕‍🦺 \\u0001","categoryId":1}',
      },
    ],
    [
      'add one with parameters of the media type',
      { send: 'POST /v1/pets', body: REX, headers: { 'Content-Type': 'application/json; charset="UTF-8"' } },
    ],
    [
      'add one with an id of the request',
      { send: 'POST /v1/pets', body: REX, headers: { 'X-Request-Id': 'order-66.a_b' } },
    ],
    [
      'add one in chunks',
      {
        raw: 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer $key\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1d\r\n{"name":"Rex","categoryId":7}\r\n0\r\n\r\n',
      },
    ],
    [
      'add one after 100-continue',
      {
        raw: 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer $key\r\nContent-Type: application/json\r\nContent-Length: 29\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n{"name":"Rex","categoryId":7}',
      },
    ],
    ['refuse a missing body', { send: 'POST /v1/pets', headers: { 'Content-Length': '0' } }],
    [
      'refuse a missing body of another type',
      { send: 'POST /v1/pets', headers: { 'Content-Length': '0', 'Content-Type': 'text/plain' } },
    ],
    ['refuse what is not JSON', { send: 'POST /v1/pets', body: '{"name":' }],
    ['refuse an array', { send: 'POST /v1/pets', body: '[]' }],
    ['refuse null', { send: 'POST /v1/pets', body: 'null' }],
    ['refuse a text', { send: 'POST /v1/pets', body: '"Rex"' }],
    ['refuse an empty object', { send: 'POST /v1/pets', body: '{}' }],
    ['refuse a missing name', { send: 'POST /v1/pets', body: { categoryId: 7 } }],
    ['refuse a missing category', { send: 'POST /v1/pets', body: { name: 'Rex' } }],
    ['refuse an empty name', { send: 'POST /v1/pets', body: { name: '', categoryId: 7 } }],
    ['refuse a name of spaces', { send: 'POST /v1/pets', body: { name: ' \t\u00a0', categoryId: 7 } }],
    ['refuse a long name', { send: 'POST /v1/pets', body: { name: 'x'.repeat(201), categoryId: 7 } }],
    ['refuse a name with NUL', { send: 'POST /v1/pets', body: '{"name":"a\\u0000","categoryId":7}' }],
    [
      'refuse a name with a lone surrogate',
      { send: 'POST /v1/pets', body: '{"name":"a\\ud800","categoryId":7}' },
    ],
    ['refuse a name that is a number', { send: 'POST /v1/pets', body: { name: 7, categoryId: 7 } }],
    ['refuse a category that is a text', { send: 'POST /v1/pets', body: { name: 'Rex', categoryId: '7' } }],
    ['refuse a category with a fraction', { send: 'POST /v1/pets', body: '{"name":"Rex","categoryId":1.5}' }],
    [
      'refuse a category out of range',
      { send: 'POST /v1/pets', body: '{"name":"Rex","categoryId":9223372036854775808}' },
    ],
    ['refuse a huge category', { send: 'POST /v1/pets', body: '{"name":"Rex","categoryId":1e400}' }],
    ['refuse an unknown status', { send: 'POST /v1/pets', body: { ...REX, status: 'lost' } }],
    ['refuse the status null', { send: 'POST /v1/pets', body: { ...REX, status: null } }],
    ['refuse several faults', { send: 'POST /v1/pets', body: { name: '', categoryId: 'x', status: 1 } }],
    ['refuse deep nesting', { send: 'POST /v1/pets', body: '['.repeat(5_000) }],
    [
      'refuse a body over 16 KiB',
      { send: 'POST /v1/pets', body: JSON.stringify({ ...REX, note: 'x'.repeat(17_000) }) },
    ],
    ['refuse text', { send: 'POST /v1/pets', body: REX, headers: { 'Content-Type': 'text/plain' } }],
    ['refuse a merge patch', { send: 'POST /v1/pets', body: REX, headers: MERGE }],
    ['refuse no media type', { send: 'POST /v1/pets', body: REX, headers: { 'Content-Type': '' } }],
    [
      'refuse another charset',
      { send: 'POST /v1/pets', body: REX, headers: { 'Content-Type': 'application/json; charset=latin1' } },
    ],
    [
      'refuse a compressed body',
      { send: 'POST /v1/pets', body: REX, headers: { 'Content-Encoding': 'gzip' } },
    ],
    [
      'refuse what is not UTF-8',
      {
        raw: 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer $key\r\nContent-Type: application/json\r\nContent-Length: 29\r\nConnection: close\r\n\r\n{"name":"R\xffx","categoryId":7}',
      },
    ],
    ['refuse a creation by a reader', { send: 'POST /v1/pets', as: 'reader', body: REX }],

    // Idempotency-Key
    [
      'add one with an idempotency key',
      { send: 'POST /v1/pets', body: REX, headers: { 'Idempotency-Key': 'a-1' } },
    ],
    ['replay it', { send: 'POST /v1/pets', body: REX, headers: { 'Idempotency-Key': 'a-1' } }],
    [
      'refuse the key with another body',
      { send: 'POST /v1/pets', body: { ...REX, name: 'Max' }, headers: { 'Idempotency-Key': 'a-1' } },
    ],
    [
      'refuse the key with the same body spelled in another way',
      {
        send: 'POST /v1/pets',
        body: '{ "name":"Rex","categoryId":7,"status":"available"}',
        headers: { 'Idempotency-Key': 'a-1' },
      },
    ],
    [
      'the key of another account is another key',
      {
        send: 'POST /v1/pets',
        as: 'other',
        body: { name: 'Other', categoryId: 7 },
        headers: { 'Idempotency-Key': 'a-1' },
      },
    ],
    [
      'refuse an idempotency key with spaces',
      { send: 'POST /v1/pets', body: REX, headers: { 'Idempotency-Key': 'a b' } },
    ],
    [
      'refuse a long idempotency key',
      { send: 'POST /v1/pets', body: REX, headers: { 'Idempotency-Key': 'k'.repeat(256) } },
    ],
    [
      'refuse an empty idempotency key',
      {
        raw: 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer $key\r\nIdempotency-Key: \r\nContent-Type: application/json\r\nContent-Length: 29\r\nConnection: close\r\n\r\n{"name":"Rex","categoryId":7}',
      },
    ],
    ['a refusal is not kept', { send: 'POST /v1/pets', body: {}, headers: { 'Idempotency-Key': 'a-2' } }],
    ['so its key can be used', { send: 'POST /v1/pets', body: REX, headers: { 'Idempotency-Key': 'a-2' } }],
    [
      'replay it after 23 hours',
      { send: 'POST /v1/pets', pass: 23 * 3_600_000, body: REX, headers: { 'Idempotency-Key': 'a-1' } },
    ],
    [
      'after 24 hours the key is free',
      { send: 'POST /v1/pets', pass: 3_600_001, body: REX, headers: { 'Idempotency-Key': 'a-1' } },
    ],

    // listPets
    ['list', { send: 'GET /v1/pets', save: { listTag: /ETag: (.*)/ } }],
    ['list without change', { send: 'GET /v1/pets', headers: { 'If-None-Match': '$listTag' } }],
    ['list with a weak tag', { send: 'GET /v1/pets', headers: { 'If-None-Match': 'W/$listTag, "x"' } }],
    ['list with any tag', { send: 'GET /v1/pets', headers: { 'If-None-Match': '*' } }],
    ['list with another tag', { send: 'GET /v1/pets?limit=1', headers: { 'If-None-Match': '"x"' } }],
    ['head of the list', 'HEAD /v1/pets'],
    ['head without change', { send: 'HEAD /v1/pets', headers: { 'If-None-Match': '$listTag' } }],
    [
      'the first page',
      {
        send: 'GET /v1/pets?limit=2',
        save: { next: /<https:\/\/petstore\.example(\/v1\/pets[^>]*)>; rel="next"/ },
      },
    ],
    [
      'the second page',
      { send: 'GET $next', save: { next: /<https:\/\/petstore\.example(\/v1\/pets[^>]*)>; rel="next"/ } },
    ],
    ['the third page', 'GET $next'],
    [
      'a page with filters',
      {
        send: 'GET /v1/pets?status=available&categoryId=7&limit=1&unknown=x',
        save: { next: /<https:\/\/petstore\.example(\/v1\/pets[^>]*)>; rel="next"/ },
      },
    ],
    ['the page after it', 'GET $next'],
    ['the last page has no link', 'GET /v1/pets?limit=100'],
    ['the largest limit but one row', 'GET /v1/pets?limit=1&status=sold'],
    ['the filter pending', 'GET /v1/pets?status=pending'],
    ['the filter of the smallest category', 'GET /v1/pets?categoryId=-9223372036854775808'],
    ['the filter of a category of none', 'GET /v1/pets?categoryId=12345'],
    ['the filter of ids', 'GET /v1/pets?id=3&id=1&id=1&id=999999&id=-5'],
    [
      'ids in pages',
      {
        send: 'GET /v1/pets?id=3&id=1&id=2&limit=2',
        save: { next: /<https:\/\/petstore\.example(\/v1\/pets[^>]*)>; rel="next"/ },
      },
    ],
    ['the next page of ids', 'GET $next'],
    ['ids with other filters', 'GET /v1/pets?id=3&id=1&status=sold&categoryId=7'],
    ['those of the account', { send: 'GET /v1/pets?mine=true', as: 'partner' }],
    ['those of the account in pages', 'GET /v1/pets?mine=true&categoryId=7&limit=1'],
    ['refuse a bad mine', 'GET /v1/pets?mine=1'],
    ['an encoded path', 'GET /v1/%70ets?limit=1'],
    ['an absolute target', 'GET http://other.example/v1/pets?limit=1'],
    ['refuse the limit 0', 'GET /v1/pets?limit=0'],
    ['refuse the limit 101', 'GET /v1/pets?limit=101'],
    ['refuse the limit 1.5', 'GET /v1/pets?limit=1.5'],
    ['refuse the limit abc', 'GET /v1/pets?limit=abc'],
    ['refuse an empty limit', 'GET /v1/pets?limit='],
    ['refuse two limits', 'GET /v1/pets?limit=1&limit=1'],
    ['refuse a limit that cannot be decoded', 'GET /v1/pets?limit=%zz'],
    ['refuse an unknown status filter', 'GET /v1/pets?status=lost'],
    ['refuse two statuses', 'GET /v1/pets?status=sold&status=sold'],
    ['refuse a bad cursor', 'GET /v1/pets?cursor=AAAA'],
    ['refuse an empty cursor', 'GET /v1/pets?cursor='],
    ['refuse a category filter out of range', 'GET /v1/pets?categoryId=9223372036854775808'],
    ['refuse two category filters', 'GET /v1/pets?categoryId=1&categoryId=2'],
    ['refuse an id that is none', 'GET /v1/pets?id=1&id=x'],
    ['refuse 101 ids', `GET /v1/pets?${Array.from({ length: 101 }, (_, index) => `id=${index}`).join('&')}`],
    ['refuse a list for a writer', { send: 'GET /v1/pets', as: 'writer' }],

    // getPet, deprecated
    ['get one', { send: 'GET /v1/pets/1', save: { petTag: /ETag: (.*)/ } }],
    ['get one without change', { send: 'GET /v1/pets/1', headers: { 'If-None-Match': '$petTag' } }],
    ['head of one', 'HEAD /v1/pets/1'],
    ['get one with a query', 'GET /v1/pets/2?limit=0'],
    ['get one that does not exist', 'GET /v1/pets/999999'],
    ['get a negative id', 'GET /v1/pets/-1'],
    ['get the largest id', 'GET /v1/pets/9223372036854775807'],
    ['get an id out of range', 'GET /v1/pets/9223372036854775808'],
    ['get an id that is none', 'GET /v1/pets/rex'],
    ['get an empty id', 'GET /v1/pets/'],
    ['get an id with a sign', 'GET /v1/pets/+1'],
    ['get an id with a zero', 'GET /v1/pets/01'],
    ['get a long id', `GET /v1/pets/${'9'.repeat(10_000)}`],
    ['get an id with an encoded slash', 'GET /v1/pets%2F1'],
    ['get an id whose encoding is broken', 'GET /v1/pets/%zz'],
    ['get an id that is not UTF-8', 'GET /v1/pets/%ff'],
    ['refuse one for a writer', { send: 'GET /v1/pets/1', as: 'writer' }],
    ['get one with an origin', { send: 'GET /v1/pets/1', headers: { Origin: 'https://app.example' } }],

    // updatePet
    ['change the name', { send: 'PATCH /v1/pets/1', body: { name: 'Rexy' }, headers: MERGE }],
    [
      'change all fields',
      { send: 'PATCH /v1/pets/1', body: { name: 'Rex', categoryId: 8, status: 'sold', id: 5, more: 1 } },
    ],
    [
      'remove the status',
      { send: 'PATCH /v1/pets/1', body: { status: null }, save: { petTag: /ETag: (.*)/ } },
    ],
    ['change nothing', { send: 'PATCH /v1/pets/1', body: {} }],
    [
      'change with a matching tag',
      { send: 'PATCH /v1/pets/1', body: { name: 'Tagged' }, headers: { 'If-Match': '"x", $petTag' } },
    ],
    [
      'refuse a change with an old tag',
      { send: 'PATCH /v1/pets/1', body: { name: 'No' }, headers: { 'If-Match': '$petTag' } },
    ],
    [
      'refuse a change with a weak tag',
      { send: 'PATCH /v1/pets/1', body: { name: 'No' }, headers: { 'If-Match': 'W/$petTag' } },
    ],
    [
      'change with any tag',
      { send: 'PATCH /v1/pets/1', body: { name: 'Any' }, headers: { 'If-Match': '*' } },
    ],
    ['refuse a patch of one that does not exist', { send: 'PATCH /v1/pets/999999', body: { name: '' } }],
    ['refuse a patch of an id that is none', { send: 'PATCH /v1/pets/rex', body: { name: 'x' } }],
    ['refuse a patch with a null name', { send: 'PATCH /v1/pets/1', body: { name: null } }],
    ['refuse a patch with a null category', { send: 'PATCH /v1/pets/1', body: { categoryId: null } }],
    ['refuse a patch with an unknown status', { send: 'PATCH /v1/pets/1', body: { status: 'lost' } }],
    ['refuse a patch that is an array', { send: 'PATCH /v1/pets/1', body: [] }],
    ['refuse a patch that is not JSON', { send: 'PATCH /v1/pets/1', body: '{' }],
    ['refuse a patch without body', { send: 'PATCH /v1/pets/1', headers: { 'Content-Length': '0' } }],
    [
      'a bad patch with an old tag is 412',
      { send: 'PATCH /v1/pets/1', body: { name: '' }, headers: { 'If-Match': '"x"' } },
    ],
    [
      'refuse a patch of another media type',
      { send: 'PATCH /v1/pets/1', body: {}, headers: { 'Content-Type': 'application/json-patch+json' } },
    ],
    ['refuse a patch over 16 KiB', { send: 'PATCH /v1/pets/1', body: { note: 'x'.repeat(17_000) } }],
    ['refuse a patch by a reader', { send: 'PATCH /v1/pets/1', as: 'reader', body: {} }],
    ['refuse a patch by another account', { send: 'PATCH /v1/pets/1', as: 'partner', body: {} }],

    // deletePet
    ['refuse to delete with an old tag', { send: 'DELETE /v1/pets/2', headers: { 'If-Match': '"x"' } }],
    ['refuse to delete with a body', { send: 'DELETE /v1/pets/2', body: {} }],
    ['refuse to delete for a reader', { send: 'DELETE /v1/pets/2', as: 'reader' }],
    ['refuse to delete for another account', { send: 'DELETE /v1/pets/2', as: 'partner' }],
    ['delete', { send: 'DELETE /v1/pets/2' }],
    ['delete again', { send: 'DELETE /v1/pets/2' }],
    ['delete an id that is none', { send: 'DELETE /v1/pets/rex' }],
    ['get a deleted one', 'GET /v1/pets/2'],
    [
      'add one to be deleted',
      {
        send: 'POST /v1/pets',
        body: REX,
        headers: { 'Idempotency-Key': 'd-1' },
        save: { gone: /pets\/(\d+)/ },
      },
    ],
    ['delete it', { send: 'DELETE /v1/pets/$gone', headers: { 'If-Match': '*' } }],
    ['replay its creation', { send: 'POST /v1/pets', body: REX, headers: { 'Idempotency-Key': 'd-1' } }],

    // Methods
    ['refuse PUT of the list', { send: 'PUT /v1/pets', body: {} }],
    ['refuse DELETE of the list', 'DELETE /v1/pets'],
    ['refuse POST of one', { send: 'POST /v1/pets/1', body: {} }],
  ],
};
