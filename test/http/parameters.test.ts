// Contract: section 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { encodeCursor } from '../../src/domain/cursor.ts';
import { queryParameters } from '../../src/http/operation.ts';
import { readQuery } from '../../src/http/parameters.ts';
import { listPets } from '../../src/resources/pets/operations.ts';

const PARAMETERS = queryParameters(listPets);

/** What a query is read as: its values, or what is wrong with it. */
function read(query: string): unknown {
  try {
    return readQuery(query, PARAMETERS);
  } catch (error) {
    return (error as Error).message;
  }
}

test('a query is read the same with and without decoding', () => {
  const name = fc.constantFrom(
    'limit',
    'status',
    'id',
    'categoryId',
    'cursor',
    'other',
    'Limit',
    'limit ',
    '',
  );
  const value = fc.constantFrom('', '7', '100', 'sold', encodeCursor(42n), 'a=b', '=', '==5');
  const pair = fc
    .tuple(name, fc.option(value))
    .map(([left, right]) => (right === null ? left : `${left}=${right}`));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
      const query = pairs.join('&');
      assert.deepEqual(read(query), read(`${query}&%5F=`));
    }),
    { numRuns: 2_000 },
  );
});
