// Contract: section 5.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { assertError, call } from '../support/api.ts';
import { issueKey, type IssuedKey, startTestInstances } from '../support/instances.ts';
import { run, runJson } from '../support/process.ts';
import { test } from '../support/test.ts';

/** Milliseconds within which every instance knows what the command line changed. */
const KNOWN_EVERYWHERE = 5_000;

/** Three instances on clocks that stand still, with a key that all of them have in mind. */
async function threeThatKnow(t: TestContext) {
  const { variables, services } = await startTestInstances(t, 3);
  const issued = await issueKey(variables);
  const ask = (key = issued.key) => Promise.all(services.map(({ url }) => call(url, '/v1/pets', { key })));
  for (const answer of await ask()) assert.equal(answer.status, 200);
  return {
    variables,
    issued,
    ask,
    /** Five seconds pass after a change; the system clocks of all machines agree. */
    fiveSecondsLater: () => {
      for (const { clock } of services) {
        clock.jump(Date.now() - clock().unix);
        clock.advance(KNOWN_EVERYWHERE);
      }
    },
  };
}

test('a key that is revoked is refused by every instance within 5 s', async (t) => {
  const { variables, issued, ask, fiveSecondsLater } = await threeThatKnow(t);
  await runJson(['keys', 'revoke', `${issued.id}`], variables);
  fiveSecondsLater();
  for (const answer of await ask()) {
    assertError(answer, 'unauthorized');
    assert.match(answer.json.message, /revoked/);
  }
});

test('a rotation without grace reaches every instance within 5 s', async (t) => {
  const { variables, issued, ask, fiveSecondsLater } = await threeThatKnow(t);
  const { key } = await runJson<IssuedKey>(['keys', 'rotate', `${issued.id}`, '--grace', '0'], variables);
  fiveSecondsLater();
  for (const answer of await ask()) assertError(answer, 'unauthorized');
  for (const answer of await ask(key)) assert.equal(answer.status, 200);
});

test('a change of plan counts on every instance within 5 s', async (t) => {
  const { variables, ask, fiveSecondsLater } = await threeThatKnow(t);
  const { code } = await run(['accounts', 'set', 'chain', '--plan', 'business'], variables);
  assert.equal(code, 0);
  fiveSecondsLater();
  for (const { headers } of await ask()) {
    assert.equal(headers.get('ratelimit-policy'), '"minute";q=1000;w=60, "day";q=100000;w=86400');
  }
});
