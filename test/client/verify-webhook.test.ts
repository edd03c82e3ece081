// Contract: section 13.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookError } from '../../client/src/index.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const ID = '3f0c8a1b5d7e42969b1c4a6f8e2d0b7a';
const NOW = Date.parse('2027-01-15T09:00:00Z');
const BODY = `{"id":"${ID}","type":"pet.created","timestamp":"2027-01-15T09:00:00.000Z","version":1,"data":{"id":1,"name":"Zoë 🐕","categoryId":9007199254740993}}`;

function sign(body = BODY, { secrets = [SECRET], at = NOW } = {}) {
  return {
    'webhook-id': ID,
    'webhook-timestamp': String(at / 1_000),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(ID, new Date(at), body)).join(' '),
  };
}

const verify = (
  body: string | Uint8Array | ArrayBuffer,
  headers: Parameters<typeof verifyWebhook>[1],
  secret = SECRET,
) => verifyWebhook(body, headers, secret, () => NOW);

test('a signature of the standardwebhooks package gives the event, with exact int64', async () => {
  const event = await verify(BODY, sign());
  assert.ok(event.type === 'pet.created');
  assert.deepEqual(event.data, { id: 1, name: 'Zoë 🐕', categoryId: 9007199254740993n });
});

const toArrayBuffer = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text)).buffer;

test('body and headers may have any form in which servers have them', async () => {
  const signed = sign();
  const upper = Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.toUpperCase(), value]),
  );
  const lists = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, [value]]));
  for (const headers of [signed, upper, lists, new Headers(signed)])
    for (const body of [BODY, new TextEncoder().encode(BODY), Buffer.from(BODY), toArrayBuffer(BODY)])
      assert.equal((await verify(body, headers)).id, ID);
});

test('either secret of a rotation verifies, and a third one does not', async () => {
  const headers = sign(BODY, { secrets: [OTHER, SECRET] });
  assert.equal((await verify(BODY, headers)).id, ID);
  assert.equal((await verify(BODY, headers, OTHER)).id, ID);
  await assert.rejects(verify(BODY, headers, `whsec_${Buffer.alloc(32).toString('base64')}`), WebhookError);
});

test('what was changed on the way is refused', async () => {
  const signed = sign();
  await assert.rejects(verify(BODY.replace('Zoë', 'Zoe'), signed), WebhookError);
  await assert.rejects(verify(`\ufeff${BODY}`, signed), WebhookError);
  await assert.rejects(verify(BODY, { ...signed, 'webhook-id': 'another' }), WebhookError);
  await assert.rejects(
    verify(BODY, { ...signed, 'webhook-timestamp': String(NOW / 1_000 + 1) }),
    WebhookError,
  );
});

test('only a signature of version 1 counts', async () => {
  const signed = sign();
  const [, value = ''] = signed['webhook-signature'].split(',');
  for (const signature of [`v1a,${value}`, value, 'v1,', 'v1', 'v1,%%%', `v1,${value.slice(0, -4)}`])
    await assert.rejects(
      verify(BODY, { ...signed, 'webhook-signature': signature }),
      WebhookError,
      signature,
    );
  const mixed = `v1a,AAAA v2,BBBB ${signed['webhook-signature']}`;
  assert.equal((await verify(BODY, { ...signed, 'webhook-signature': mixed })).id, ID);
});

test('the clocks may differ by 5 minutes, both ways', async () => {
  for (const at of [NOW - 300_000, NOW + 300_000])
    assert.equal((await verify(BODY, sign(BODY, { at }))).id, ID);
  for (const at of [NOW - 301_000, NOW + 301_000])
    await assert.rejects(verify(BODY, sign(BODY, { at })), /more than 5 minutes/);
  await assert.rejects(verify(BODY, { ...sign(), 'webhook-timestamp': '1e9' }), WebhookError);
});

test('a header that is missing is named', async () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const) {
    const { [name]: _, ...others } = sign();
    await assert.rejects(verify(BODY, others), {
      name: 'WebhookError',
      message: `The header ${name} is missing.`,
    });
    await assert.rejects(verify(BODY, new Headers(others)), WebhookError);
  }
});

test('an argument of another type is a TypeError that names it', async () => {
  const wrong = [
    undefined,
    null,
    5,
    true,
    {},
    [],
    JSON.parse(BODY),
    new DataView(new ArrayBuffer(8)),
    () => 1,
  ];
  for (const value of [...wrong, new Uint16Array(8), new Blob([BODY])])
    await assert.rejects(verify(value as never, sign()), {
      name: 'TypeError',
      message: /^body must be the body/,
    });
  for (const value of [undefined, null, 5, 'webhook-id: 1', [], () => 1])
    await assert.rejects(verify(BODY, value as never), {
      name: 'TypeError',
      message: /^headers must be an object/,
    });
  for (const value of [undefined, null, 5, {}])
    await assert.rejects(
      verifyWebhook(BODY, sign(), value as never, () => NOW),
      {
        name: 'TypeError',
        message: /^secret must be a string/,
      },
    );
  const headers = { ...sign(), 'webhook-timestamp': (NOW / 1_000) as never };
  await assert.rejects(verify(BODY, headers), {
    name: 'TypeError',
    message: /^The header webhook-timestamp must be a string/,
  });
});

test('a secret that is none is malformed, and is not shown', async () => {
  const other = [0, 9, 23, 65].map((length) => `whsec_${Buffer.alloc(length, 7).toString('base64')}`);
  for (const secret of ['', 'whsec_', 'whsec_%%%', 'nonsense', 'c2VjcmV0', 'petstore_live_0123', ...other])
    await assert.rejects(verify(BODY, sign(), secret), {
      name: 'TypeError',
      message: 'secret is malformed: that of a webhook is whsec_ and 24 to 64 bytes as base64.',
    });
  for (const secret of [SECRET, SECRET.slice('whsec_'.length), `${SECRET}\n`])
    assert.equal((await verify(BODY, sign(), secret)).id, ID);
});

test('a signed body that is no event is refused', async () => {
  for (const body of ['', '{}', '[]', 'null', '{"id":1}', '<html>']) {
    // The package of the standard signs no empty body.
    const digest = createHmac('sha256', Buffer.alloc(32, 7)).update(`${ID}.${NOW / 1_000}.${body}`);
    const headers = { ...sign(), 'webhook-signature': `v1,${digest.digest('base64')}` };
    await assert.rejects(verify(body, headers), {
      name: 'WebhookError',
      message: 'The body is signed, but it is not an event.',
    });
  }
});
