// Contract: section 6.10.
import assert from 'node:assert/strict';
import { test } from '../support/test.ts';
import { assertError, assertRateHeaders, type Answer } from '../support/api.ts';
import { type StartService, PLENTY } from '../support/service.ts';
import { create, revoke, rotate, type Send, senderOf } from './keys-contract.ts';

const PER_MINUTE = 60;
const PER_DAY = 5_000;

/** What remains of the minute and of the day that the rate headers show. */
function left({ headers }: Pick<Answer, 'headers'>): readonly number[] {
  return [...(headers.get('ratelimit') ?? '').matchAll(/r=(\d+)/g)].map(([, remaining]) => Number(remaining));
}

/** Calls each operation on the account once, HEAD included, and returns the answers. */
async function callEach(send: Send): Promise<Answer[]> {
  const made = await create(send);
  const next = await rotate(send, made.json.id);
  return [
    await send('/account'),
    await send('/account', { method: 'HEAD' }),
    await send('/account/usage'),
    await send('/account/keys'),
    made,
    next,
    await revoke(send, next.json.id),
  ];
}

const SUCCESSES = [200, 200, 200, 200, 201, 201, 204];

/** The windows for operations on an account itself, over any stores. */
export function holderContract(backend: string, start: StartService): void {
  test(`${backend}: with the plan used up and the key banned, its holder sees why and revokes it`, async (t) => {
    const service = await start(t, { env: { BAN_AFTER: '3' } });
    const send = senderOf(service, await service.issueKey({ limits: { perMinute: 1, perDay: 100 } }));
    assert.equal((await send('/pets')).status, 200);
    assertError(await send('/pets'), 'rate_limit_exceeded');
    const used = (await send('/account')).json;
    assert.deepEqual([used.minute.limit, used.minute.remaining, used.day.remaining], [1, 0, 99]);
    assert.deepEqual(used.bans, []);
    assertError(await send('/pets'), 'rate_limit_exceeded');
    const banned = await send('/pets');
    assertError(banned, 'key_banned');

    const answers = await callEach(send);
    assert.deepEqual(
      answers.map(({ status }) => status),
      SUCCESSES,
    );
    const [{ minute, bans }] = answers.map(({ text }) => text !== '' && JSON.parse(text));
    assert.equal(minute.remaining, 0);
    assert.deepEqual(
      bans.map((ban: { keyId: number; count: number }) => [ban.keyId, ban.count]),
      [[1, 1]],
    );
    assertError(await send('/pets'), 'key_banned');
    assert.equal((await revoke(send, 1)).status, 204);
    assertError(await send('/account'), 'unauthorized');
  });

  test(`${backend}: operations on the account take nothing from the plan, and the plan nothing from them`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey({ limits: { perMinute: 20, perDay: 100 } }));
    assert.deepEqual(left(await send('/pets')), [19, 99]);
    const answers = await callEach(send);
    for (const answer of answers) {
      assertRateHeaders(answer);
      assert.equal(answer.headers.get('x-ratelimit-limit'), `${PER_MINUTE}`);
      assert.match(
        answer.headers.get('ratelimit-policy') ?? '',
        /^"minute";q=60;w=60, "day";q=5000;w=86400$/,
      );
    }
    const counts = answers.map(left).toSorted(([one = 0], [other = 0]) => other - one);
    const expected = SUCCESSES.map((_, index) => [PER_MINUTE - 1 - index, PER_DAY - 1 - index]);
    assert.deepEqual(counts, expected);
    assert.deepEqual(left(await send('/pets')), [18, 98]);
    const { minute, day } = (await send('/account')).json;
    assert.deepEqual([minute.limit, minute.remaining, day.limit, day.remaining], [20, 18, 100, 98]);
    assert.deepEqual(left(await send('/account')), [PER_MINUTE - 9, PER_DAY - 9]);
  });

  test(`${backend}: what the paths of the account lack counts against the plan`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey({ limits: { perMinute: 20, perDay: 100 } }));
    const other = await send('/account', { method: 'PUT', body: '{}' });
    assertError(other, 'method_not_allowed');
    assert.deepEqual(left(other), [19, 99]);
    const unknown = await send('/account/nothing');
    assertError(unknown, 'not_found');
    assert.deepEqual(left(unknown), [18, 98]);
    assert.deepEqual(left(await send('/account')), [PER_MINUTE - 1, PER_DAY - 1]);
  });

  test(`${backend}: an account has exactly 60 of them a minute, over all keys, and its refusals ban nobody`, async (t) => {
    const service = await start(t, { env: { BAN_AFTER: '3' } });
    const keys = [await service.issueKey({ limits: PLENTY }), await service.issueKey()];
    const senders = keys.map((key) => senderOf(service, key));
    const [send, second] = senders as [Send, Send];
    const answers = await Promise.all(
      Array.from({ length: 2 * PER_MINUTE }, (_, index) =>
        (index % 2 === 0 ? send : second)('/account/keys'),
      ),
    );
    const [admitted, refused] = [200, 429].map((code) => answers.filter(({ status }) => status === code));
    assert.equal(admitted?.length, PER_MINUTE);
    assert.equal(refused?.length, PER_MINUTE);
    for (const answer of refused) {
      assertError(answer, 'rate_limit_exceeded');
      assert.equal(answer.headers.get('x-ratelimit-limit'), `${PER_MINUTE}`);
      assert.equal(answer.headers.get('x-ratelimit-remaining'), '0');
      const wait = Number(answer.headers.get('retry-after'));
      assert.ok(wait > 0 && wait <= 60, `${wait} s`);
      assert.doesNotMatch(answer.json.message, /ban/);
    }
    for (const each of senders) assert.equal((await each('/pets')).status, 200);
    const other = senderOf(service, await service.issueKey({ account: 'other' }));
    assert.equal((await other('/account')).status, 200);
  });
}
