// Contract: section 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { encodeCursor } from '../../src/domain/cursor.ts';
import { parsePetQuery } from '../../src/http/parameters.ts';

/** What a query is read as: its values, or what is wrong with it. */
function read(query: string): unknown {
  try {
    return parsePetQuery(query);
  } catch (error) {
    return (error as Error).message;
  }
}

test('a query that needs no decoding is read as one that does', () => {
  const name = fc.constantFrom('limit', 'status', 'cursor', 'other', 'Limit', 'limit ', '');
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
