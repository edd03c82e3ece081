import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  boolean,
  createParser,
  enumeration,
  integer,
  instant,
  json,
  numberList,
  optional,
  Table,
  text,
  textList,
} from '../../src/storage/table.ts';

const isTrue = (value: unknown): value is true => value === true;

const THINGS = new Table(
  'things',
  {
    id: integer,
    madeAt: optional(instant),
    colour: enumeration(['red', 'dark blue']),
    isBig: boolean,
    tags: textList<string>(),
    sizes: numberList,
    yes: json('true', isTrue),
    name: text,
  },
  { key: ['id'] },
);

const ROW = [1n, null, 'dark blue', 1n, '["a"]', '[1,2.5]', 'true', 'Rex'];

/** The message for a row in which one column is another. */
function refusal(index: number, stored: unknown): string {
  try {
    THINGS.parse(ROW.with(index, stored as string));
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.message;
  }
  return 'read';
}

test('a row is read as an object, without the columns that are null', () => {
  assert.deepEqual(THINGS.parse(ROW), {
    id: 1,
    colour: 'dark blue',
    isBig: true,
    tags: ['a'],
    sizes: [1, 2.5],
    yes: true,
    name: 'Rex',
  });
});

test('a value that its column cannot hold is a fault that names the column, and the value if it is a word', () => {
  const refused = {
    'The column things.id has 9007199254740993 instead of a safe integer.': [0, 9_007_199_254_740_993n],
    'The column things.made_at has -62167219200001 instead of an instant.': [1, -62_167_219_200_001n],
    'The column things.made_at has 253402300800000 instead of an instant.': [1, 253_402_300_800_000n],
    'The column things.colour has "Red" instead of one of "red", "dark blue".': [2, 'Red'],
    'The column things.colour has a text of 0 characters instead of one of "red", "dark blue".': [2, ''],
    'The column things.colour has a text of 9 characters instead of one of "red", "dark blue".': [
      2,
      'toString1',
    ],
    'The column things.colour has "constructor" instead of one of "red", "dark blue".': [2, 'constructor'],
    'The column things.is_big has 2 instead of 0 or 1.': [3, 2n],
    'The column things.is_big has -1 instead of 0 or 1.': [3, -1n],
    'The column things.tags has a text of 2 characters instead of a list of texts as JSON.': [4, '{}'],
    'The column things.tags has a text of 7 characters instead of a list of texts as JSON.': [4, '["a",1]'],
    'The column things.sizes has a text of 5 characters instead of a list of numbers as JSON.': [5, '["1"]'],
    'The column things.yes has "false" instead of true as JSON.': [6, 'false'],
    'The column things.name has nothing instead of a value.': [7, null],
  } as const;
  for (const [message, [index, stored]] of Object.entries(refused))
    assert.equal(refusal(index, stored), message);
});

test('what may be a secret is in no message of a fault', () => {
  const secrets = [
    'petstore_live_8Zk3vQpN2xYtRb7WcLdF5mHsJ6gKaE4u',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLLaw',
    '{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLLaw"',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  ];
  for (const secret of secrets)
    for (const index of [2, 4, 5, 6]) {
      const message = refusal(index, secret);
      assert.match(message, /^The column things\.\w+ has a text of \d+ characters instead of /);
      assert.ok(!message.includes(secret.slice(0, 8)));
    }
});

test('a row that has too few columns is a fault', () => {
  assert.throws(() => THINGS.parse(ROW.slice(0, -1)), {
    message: 'The column things.name has nothing instead of a value.',
  });
});

test('a fault in a join names the table of the column', () => {
  const parse = createParser({ ...THINGS.codecs, ownerName: text });
  assert.throws(() => parse([...ROW.with(3, 7n), 'acme']), /^Error: The column things\.is_big has 7 /);
  assert.throws(() => parse([...ROW, null]), /^Error: The column owner_name has nothing /);
});
