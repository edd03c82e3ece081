// Contract: section 5.
import { ApiKey, ENVIRONMENTS } from '../../domain/api-key.ts';
import { member, toText } from '../json.ts';
import type { Check } from '../check.ts';
import { CheckSkipped } from '../probe.ts';

/* Each request of these counts for the client address, so there are few. */

export const AUTHENTICATION: readonly Check[] = [
  {
    section: '5.1',
    promise: 'a request without a key, or with one that is wrong, is 401',
    run: async (probe) => {
      const path = '/pets?limit=1';
      probe.expectRefusal(await probe.send({ method: 'GET', path, key: null }), 'unauthorized');
      const wrong = `${probe.scene.key.slice(0, -1)}${probe.scene.key.endsWith('A') ? 'B' : 'A'}`;
      probe.expectRefusal(await probe.send({ method: 'GET', path, key: wrong }), 'unauthorized');
      const basic = { Authorization: `Basic ${Buffer.from('a:b').toString('base64')}` };
      probe.expectRefusal(
        await probe.send({ method: 'GET', path, key: null, headers: basic }),
        'unauthorized',
      );
    },
  },
  {
    section: '5.1',
    promise: 'a key of the other environment is 401, and the message says to which it belongs',
    run: async (probe) => {
      const own = ApiKey.parse(probe.scene.key)?.environment;
      const other = ENVIRONMENTS.find((environment) => environment !== own);
      if (own === undefined || other === undefined) throw new CheckSkipped('the key has another form');
      const key = ApiKey.generate(other, (length) => Buffer.alloc(length, probe.scene.unique())).reveal();
      const answer = await probe.send({ method: 'GET', path: '/pets?limit=1', key });
      if (!probe.expectRefusal(answer, 'unauthorized')) return;
      const message = toText(member(answer.json, 'message'));
      probe.expect(answer, message.includes(other), `a message that names ${other}`);
    },
  },
];
