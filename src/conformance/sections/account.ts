// Contract: sections 3.13 and 3.14.
import { ApiKey } from '../../domain/api-key.ts';
import { PLANS } from '../../domain/plan.ts';
import type { Check } from '../check.ts';
import { CheckSkipped, type Probe } from '../probe.ts';
import { elements, member, toText } from '../json.ts';
import { readRateHeaders } from '../windows.ts';

const KEYS = ['keys:manage', 'pets:read'] as const;

const READ_PETS = { method: 'GET', path: '/pets?limit=1' };

/** A GET for each scope that one needs. */
const SCOPED: readonly (readonly [scope: string, path: string])[] = [
  ['pets:read', '/pets?limit=1'],
  ['store:read', '/store/orders?limit=1'],
  ['events:read', '/events?after=now'],
  ['keys:manage', '/account/keys?limit=1'],
  ['webhooks:manage', '/webhooks?limit=1'],
];

export const ACCOUNT: readonly Check[] = [
  {
    section: '6.1',
    promise: 'the limits are those of the plan, in the account and in the rate headers',
    scopes: ['pets:read'],
    run: async (probe) => {
      const account = await probe.get('/account');
      probe.requireStatus(account, 200);
      const plan = toText(member(account.json, 'plan'));
      const limits = member(account.json, 'limits');
      const [perMinute, perDay] = [member(limits, 'perMinute'), member(limits, 'perDay')];
      const known = Object.entries(PLANS).find(([name]) => name === plan)?.[1];
      if (typeof known === 'object')
        probe.expect(
          account,
          perMinute === BigInt(known.perMinute) && perDay === BigInt(known.perDay),
          `${known.perMinute} and ${known.perDay}`,
          `${toText(perMinute)} and ${toText(perDay)}`,
        );
      const answer = await probe.get('/pets?limit=1');
      const rate = readRateHeaders(answer.headers);
      if (rate === undefined) return;
      probe.expect(
        answer,
        BigInt(rate.minute.limit) === perMinute && BigInt(rate.day.limit) === perDay,
        `limits of ${toText(perMinute)} and ${toText(perDay)}`,
        `limits of ${rate.minute.limit} and ${rate.day.limit}`,
      );
    },
  },
  {
    section: '3.13',
    promise: 'the account shows the windows of the plan as they are',
    scopes: ['pets:read'],
    run: async (probe) => {
      const rate = readRateHeaders((await probe.get('/pets?limit=1')).headers);
      if (rate === undefined) throw new CheckSkipped('the rate headers do not show it');
      const answer = await probe.get('/account');
      probe.requireStatus(answer, 200);
      for (const kind of ['minute', 'day'] as const) {
        const { limit, remaining } = rate[kind];
        const window = member(answer.json, kind);
        const [shownLimit, shown] = [member(window, 'limit'), member(window, 'remaining')];
        // Others may use the account meanwhile, and a new window may begin.
        const mayReset = rate[kind].left <= 60;
        const holds = shownLimit === BigInt(limit) && (mayReset || Number(shown) <= remaining);
        const came = `${toText(shown)} of ${toText(shownLimit)}`;
        probe.expect(answer, holds, `${remaining} of ${limit} to remain of the ${kind}`, came);
      }
    },
  },
  {
    section: '3.13',
    promise: 'the usage adds up by operation or by key, oldest first, and a range that cannot be is 400',
    run: async (probe) => {
      for (const [by, absent] of [
        ['operation', 'keyId'],
        ['key', 'operation'],
      ] as const) {
        const answer = await probe.get(`/account/usage?by=${by}&limit=50`);
        if (!probe.expectStatus(answer, 200)) continue;
        const rows = elements(answer.json);
        probe.expect(
          answer,
          rows.every((row) => member(row, absent) === undefined),
          `rows without ${absent}`,
        );
        const starts = rows.map((row) => toText(member(row, 'start')));
        probe.expect(answer, starts.join() === starts.toSorted().join(), 'the oldest first', starts.join());
      }
      const backwards = 'from=2100-01-02T00:00:00Z&to=2100-01-01T00:00:00Z';
      probe.expectRefusal(await probe.get(`/account/usage?${backwards}`), 'invalid_parameter');
      probe.expectRefusal(await probe.get('/account/usage?limit=1001'), 'invalid_parameter');
    },
  },
  {
    section: '3.13',
    promise: 'the failed requests of the account are listed, the newest first',
    run: async (probe) => {
      const answer = await probe.get('/account/requests?limit=50');
      probe.requireStatus(answer, 200);
      const instants = elements(answer.json).map((each) => toText(member(each, 'timestamp')));
      const isOrdered = instants.join() === instants.toSorted().toReversed().join();
      probe.expect(answer, isOrdered, 'the newest first', instants.join(', '));
    },
  },
  {
    section: '5.2',
    promise: 'an operation whose scope the key lacks is 403',
    run: async (probe) => {
      const lacking = SCOPED.filter(([scope]) => probe.scene.scopes?.includes(scope) === false);
      if (lacking.length === 0) throw new CheckSkipped('the key has every scope that a GET needs');
      for (const [, path] of lacking) probe.expectRefusal(await probe.get(path), 'insufficient_scope');
    },
  },
  {
    section: '3.14',
    promise: 'the keys of the account are listed without the keys themselves',
    scopes: ['keys:manage'],
    run: async (probe) => {
      const answer = await probe.get('/account/keys?limit=100');
      probe.requireStatus(answer, 200);
      const [first] = elements(answer.json);
      probe.expect(
        answer,
        first !== undefined && member(first, 'key') === undefined,
        'at least one key, without its text',
      );
    },
  },
  {
    section: '3.14',
    promise: 'a new key is in its 201 and nowhere else, and a repeated request is 409',
    scopes: KEYS,
    writes: true,
    run: async (probe) => {
      const header = { 'Idempotency-Key': probe.scene.unique() };
      const body = { label: 'petstore check', scopes: ['pets:read'] };
      const answer = await probe.post('/account/keys', body, header);
      if (answer.status === 409) throw new CheckSkipped('the account has as many keys as it may');
      probe.requireStatus(answer, 201);
      const key = member(answer.json, 'key');
      probe.expect(
        answer,
        typeof key === 'string' && ApiKey.parse(key) !== undefined,
        'a key of the right form',
      );
      probe.expect(
        answer,
        answer.headers['cache-control'] === 'no-store',
        'Cache-Control: no-store',
        `Cache-Control: ${answer.headers['cache-control']}`,
      );
      probe.expectRefusal(await probe.post('/account/keys', body, header), 'conflict');
      const path = `/account/keys/${toText(member(answer.json, 'id'))}`;
      probe.expectStatus(await probe.delete(path), 204);
    },
  },
  {
    section: '5.4',
    promise: 'a new key works, with its scopes only, until it is rotated without grace or revoked',
    scopes: KEYS,
    writes: true,
    run: async (probe) => {
      const body = { label: 'petstore check', scopes: ['pets:read'] };
      const answer = await probe.post('/account/keys', body);
      if (answer.status === 409) throw new CheckSkipped('the account has as many keys as it may');
      probe.requireStatus(answer, 201);
      const path = `/account/keys/${toText(member(answer.json, 'id'))}`;
      const first = toText(member(answer.json, 'key'));
      probe.expectStatus(await probe.send({ ...READ_PETS, key: first }), 200);
      const orders = { method: 'GET', path: '/store/orders', key: first };
      probe.expectRefusal(await probe.send(orders), 'insufficient_scope');
      const rotated = await probe.post(`${path}/rotate`, { grace: 0 });
      probe.requireStatus(rotated, 201);
      const second = toText(member(rotated.json, 'key'));
      await expectEnded(probe, first);
      probe.expectStatus(await probe.send({ ...READ_PETS, key: second }), 200);
      const successor = `/account/keys/${toText(member(rotated.json, 'id'))}`;
      probe.expectStatus(await probe.delete(successor), 204);
      await expectEnded(probe, second);
    },
  },
];

/** Another instance may take up to 5 s to learn of it. */
async function expectEnded(probe: Probe, key: string): Promise<void> {
  await probe.expectAtLast(async () => {
    const answer = await probe.send({ ...READ_PETS, key });
    return { answer, holds: answer.status === 401, expected: '401 unauthorized' };
  }, 3_000);
}
