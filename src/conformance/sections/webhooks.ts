// Contract: section 13.3. No endpoint gets a request from these: the type that they choose comes to other endpoints only.
import type { Check } from '../check.ts';
import { elements, member, toText } from '../json.ts';
import { CheckSkipped, type Probe } from '../probe.ts';

const MANAGE = ['webhooks:manage'] as const;

/** A public address, so that no name server is needed. */
const ENDPOINT = { url: 'https://1.1.1.1/petstore-check', types: ['webhook.disabled'] };

async function requireWebhooks(probe: Probe): Promise<void> {
  const answer = await probe.get('/webhooks');
  if (answer.status === 404) throw new CheckSkipped('webhooks are off');
  probe.requireStatus(answer, 200);
  if (elements(answer.json).length >= 10)
    throw new CheckSkipped('the account has as many webhooks as it may');
}

export const WEBHOOKS: readonly Check[] = [
  {
    section: '13.3',
    promise: 'webhooks are listed without their secrets, and one that is missing is 404',
    scopes: MANAGE,
    run: async (probe) => {
      const answer = await probe.get('/webhooks');
      if (answer.status === 404) throw new CheckSkipped('webhooks are off');
      probe.requireStatus(answer, 200);
      probe.expect(answer, !answer.text.includes('"secret"'), 'no secret');
      probe.expectRefusal(await probe.get('/webhooks/9223372036854775807'), 'not_found');
    },
  },
  {
    section: '13.3',
    promise: 'the secret of a webhook is in its 201 and nowhere else, and a repeated request is 409',
    scopes: MANAGE,
    writes: true,
    run: async (probe) => {
      await requireWebhooks(probe);
      const key = { 'Idempotency-Key': probe.scene.unique() };
      const answer = await probe.post('/webhooks', ENDPOINT, key);
      probe.requireStatus(answer, 201);
      const path = `/webhooks/${toText(member(answer.json, 'id'))}`;
      const secret = member(answer.json, 'secret');
      probe.expect(
        answer,
        /^whsec_[A-Za-z0-9+/]{43}=$/.test(toText(secret)),
        'whsec_ and 32 bytes in base64',
      );
      probe.expect(
        answer,
        answer.headers['cache-control'] === 'no-store',
        'Cache-Control: no-store',
        answer.headers['cache-control'],
      );
      const read = await probe.get(path);
      probe.expect(read, member(read.json, 'secret') === undefined, 'no secret');
      probe.expectRefusal(await probe.post('/webhooks', ENDPOINT, key), 'conflict');
      const off = await probe.patch(path, { enabled: false });
      probe.expect(off, member(off.json, 'disabledReason') === 'request', 'disabledReason request');
      probe.expectStatus(await probe.delete(path), 204);
      probe.expectRefusal(await probe.get(path), 'not_found');
    },
  },
  {
    section: '13.3',
    promise: 'a secret is rotated once in 24 hours, and a replay from the future is 400',
    scopes: MANAGE,
    writes: true,
    run: async (probe) => {
      await requireWebhooks(probe);
      const { answer, path } = await probe.add('/webhooks', ENDPOINT);
      const rotated = await probe.post(`${path}/rotate`);
      probe.requireStatus(rotated, 200);
      const [first, second] = [member(answer.json, 'secret'), member(rotated.json, 'secret')];
      probe.expect(rotated, typeof second === 'string' && second !== first, 'another secret');
      probe.expectRefusal(await probe.post(`${path}/rotate`), 'conflict');
      const future = { since: '2100-01-01T00:00:00Z' };
      probe.expectRefusal(await probe.post(`${path}/replay`, future), 'invalid_request');
      const deliveries = await probe.get(`${path}/deliveries`);
      probe.expect(deliveries, deliveries.text === '[]', '200 []');
    },
  },
  {
    section: '13.3',
    promise: 'a url with a user name, with a fragment, or of another scheme is 400',
    scopes: MANAGE,
    writes: true,
    run: async (probe) => {
      await requireWebhooks(probe);
      for (const url of ['https://a:b@1.1.1.1/', 'https://1.1.1.1/#a', 'ftp://1.1.1.1/'])
        probe.expectRefusal(await probe.post('/webhooks', { ...ENDPOINT, url }), 'invalid_request');
    },
  },
];
