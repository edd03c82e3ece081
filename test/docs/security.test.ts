// SECURITY.md says of each attack what holds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const page = readFileSync(fileURLToPath(new URL('../../SECURITY.md', import.meta.url)), 'utf8');

/** The rows of the tables of attackers: attack, what stops it, items of OWASP, tests. */
const attacks = Array.from(page.matchAll(/^\| (?!Attack|-).+$/gm), ([line]) => line.split(' | ')).filter(
  (cells) => cells.length === 4,
);

test('each item of the OWASP API Security Top 10 has an attack that a test tries', () => {
  const tried = attacks.filter(([, , , tests = '']) => tests.includes('.test.ts)'));
  const items = new Set(tried.flatMap(([, , found = '']) => found.trim().split(', ')));
  for (let number = 1; number <= 10; number++) assert.ok(items.has(`API${number}`), `API${number}`);
});

test('each attack names a test, or says that there is none', () => {
  assert.ok(attacks.length > 60);
  for (const [attack = '', , , tests = ''] of attacks)
    assert.match(tests, /\[`[^`]+`\]\([^)]+\.test\.ts\)|^not tested: /, attack);
});
