// The types of events in the contract, section 13.1.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EVENTS } from '../../src/resources/operations.ts';

const contract = readFileSync(new URL('../../docs/contract/events.md', import.meta.url), 'utf8');
const types = Object.values(EVENTS).flatMap((kind) => Object.entries(kind.types));

test('the contract has a sentence and the readers of each type of event, as its feature says', () => {
  const rows = contract
    .split('\n')
    .filter((line) => /^\| `\w+\.\w+`/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  assert.deepEqual(
    rows,
    types.map(([type, { when, readers }]) => ['', `\`${type}\``, when, readers, '']),
  );
});

test('the contract has an example of each type of event, as its feature says', () => {
  const [, block = ''] = /^```json\n(\{"id".*?)\n```$/ms.exec(contract) ?? [];
  assert.deepEqual(
    block.split('\n'),
    types.map(([, { example }]) => JSON.stringify(example)),
  );
});
