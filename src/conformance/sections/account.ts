// Contract: sections 3.13 and 3.14.
import { DAY } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';
import type { Check } from '../check.ts';
import { elements, member, toText } from '../json.ts';
import { readRateHeaders } from '../windows.ts';

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
      const now =
        Date.parse((await probe.get('/account/requests?limit=1')).headers['date'] ?? '') || Date.now();
      const at = (time: number) => new Date(time).toISOString();
      const backwards = `from=${at(now)}&to=${at(now - DAY)}`;
      probe.expectRefusal(await probe.get(`/account/usage?${backwards}`), 'invalid_parameter');
      probe.expectRefusal(await probe.get('/account/usage?limit=1001'), 'invalid_parameter');
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
];
