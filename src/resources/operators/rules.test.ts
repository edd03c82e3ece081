// Contract: section 10.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { toOperator, linkAddress, OperatorSecret, SECRET_KINDS } from './rules.ts';

const zeros = (length: number) => new Uint8Array(length);

test('a link and a session are 32 random bytes in base64url, a token has its prefix', () => {
  for (const kind of ['link', 'session'] as const)
    assert.equal(OperatorSecret.generate(kind, zeros).reveal(), 'A'.repeat(43));
  assert.match(OperatorSecret.generate('token', zeros).reveal(), /^petstore_admin_0{32}\w{6}$/);
});

for (const kind of SECRET_KINDS)
  test(`a ${kind} is read back as it was made, and a mistyped one is not`, () => {
    const secret = OperatorSecret.generate(kind, (length) =>
      Uint8Array.from({ length }, (_, index) => index),
    );
    const text = secret.reveal();
    const read = OperatorSecret.parse(kind, text);
    assert.deepEqual([read?.kind, read?.reveal()], [kind, text]);
    assert.equal(read?.hash(), createHash('sha256').update(text).digest('hex'));
    for (const wrong of ['', text.slice(1), `${text}A`, `A${text}`, text.replace(/.$/, '!')])
      assert.equal(OperatorSecret.parse(kind, wrong), undefined, wrong);
  });

test('no kind of secret is taken for another', () => {
  const link = OperatorSecret.generate('link', zeros).reveal();
  const token = OperatorSecret.generate('token', zeros).reveal();
  assert.equal(OperatorSecret.parse('token', link), undefined);
  assert.equal(OperatorSecret.parse('session', token), undefined);
});

test('the secret of a link is in the fragment of its address', () => {
  const secret = OperatorSecret.generate('link', zeros);
  assert.equal(
    linkAddress('https://console.example', secret),
    `https://console.example/sign-in#${'A'.repeat(43)}`,
  );
});

test('an operator is shown with the instant of the last sign-in, if there was one', () => {
  const operator = { id: 1, name: 'ada', role: 'admin', createdAt: 0 } as const;
  const shown = { ...operator, createdAt: '1970-01-01T00:00:00.000Z' };
  assert.deepEqual(toOperator(operator), { ...shown, lastSignInAt: undefined });
  assert.deepEqual(toOperator({ ...operator, lastSignInAt: 1 }), {
    ...shown,
    lastSignInAt: '1970-01-01T00:00:00.001Z',
  });
});
