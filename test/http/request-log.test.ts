import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { LINE_FORMAT, type RequestEntry, RequestLog } from '../../src/observability/request-log.ts';

const USUAL: RequestEntry = {
  id: 'a-1',
  key: { id: 7, account: { name: 'shelter' } },
  method: 'GET',
  route: '/v1/pets/{petId}',
  status: 200,
  code: undefined,
  durationUs: 125,
  waitedUs: 0,
};

for (const [kind, entry] of Object.entries({
  'an answer': USUAL,
  'an error': { ...USUAL, status: 404, code: 'not_found', durationUs: 12_000 },
  'an answer after a short wait': { ...USUAL, waitedUs: 999 },
  'an answer that was waited for': { ...USUAL, waitedUs: 30_000_250 },
  'a caller that is not known': {
    ...USUAL,
    key: undefined,
    status: 401,
    code: 'unauthorized',
  },
  'an account of any name': {
    ...USUAL,
    key: { id: 7, account: { name: 'Žofie "the\\cat" \n\u0001 🐈 \ud800' } },
  },
} as const satisfies Record<string, RequestEntry>)) {
  for (const options of [LINE_FORMAT, { name: 'petstore', timestamp: () => ',"time":1' }]) {
    test(`${kind} with ${Object.keys(options).join()} is the line that pino writes`, () => {
      const lines: string[] = [];
      const log = pino(
        { timestamp: () => ',"time":"now"', ...options },
        { write: (line) => void lines.push(line) },
      );
      const { id, key, durationUs, waitedUs, ...rest } = entry;
      const fields = {
        keyId: key?.id,
        account: key?.account.name,
        ...rest,
        durationMs: durationUs / 1000,
        ...(waitedUs >= 1_000 && { waitedMs: waitedUs / 1000 }),
      };
      log.info({ id, ...fields }, 'request');
      new RequestLog(log).write(entry);
      assert.equal(lines[1], lines[0]);
      assert.ok(lines[0]?.includes(`"status":${entry.status}`));
    });
  }
}
