// Contract: section 7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { prettyLines } from '../../src/cli/pretty-log.ts';
import { LINE_FORMAT, RequestLog } from '../../src/observability/request-log.ts';

/** A log of readable lines, and its text without the times. */
function prettyLog() {
  const prettify = prettyLines(false);
  let text = '';
  const stream = { write: (line: string) => void (text += prettify(line)) };
  const log = pino({ ...LINE_FORMAT, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return { log, text: () => text.replaceAll(/^[\d:.]{12} /gm, '') };
}

const REQUEST = {
  id: 'dTQxW5ZYpoTqJLrFROby',
  method: 'GET',
  route: '/v1/pets',
  status: 200,
  code: undefined,
  durationUs: 1_234_567,
  waitedUs: 0,
};

test('a request is one line: status, path, code, time, account and key, id', () => {
  const { log, text } = prettyLog();
  const requests = new RequestLog(log);
  requests.write({ ...REQUEST, key: { id: 7, account: { name: 'shop' } } });
  requests.write({ ...REQUEST, waitedUs: 30_000_000, key: { id: 7, account: { name: 'shop' } } });
  requests.write({ ...REQUEST, status: 401, code: 'unauthorized', durationUs: 412, key: undefined });
  log.info(
    { operator: 'ada', method: 'POST', route: '/admin/v1/keys', status: 201, id: 'x' },
    'console request',
  );
  assert.deepEqual(text().split('\n'), [
    'INFO: 200 GET /v1/pets  1230 ms  shop, key 7  dTQxW5ZYpoTqJLrFROby',
    'INFO: 200 GET /v1/pets  1230 ms  waited 30000 ms  shop, key 7  dTQxW5ZYpoTqJLrFROby',
    'INFO: 401 GET /v1/pets  unauthorized  0.412 ms  dTQxW5ZYpoTqJLrFROby',
    'INFO: 201 POST /admin/v1/keys  ada  x',
    '',
  ]);
});

test('other lines have their fields behind the message, and an error has its stack', () => {
  const { log, text } = prettyLog();
  log.warn({ keyId: 3, count: 2 }, 'ban begins');
  log.error({ err: new Error('the disk is full') }, 'the counts could not be written');
  const [first, ...rest] = text().split('\n');
  assert.equal(first, 'WARN: ban begins {"keyId":3,"count":2}');
  assert.match(
    rest.join('\n'),
    /^ERROR: the counts could not be written \n[\s\S]* {2}Error: the disk is full\n +at /,
  );
});

test('a name from the database sends no commands to the terminal', () => {
  const { log, text } = prettyLog();
  const name = 'a\u001b]0;x\u0007\u009b2J\n\u202e';
  new RequestLog(log).write({ ...REQUEST, key: { id: 7, account: { name } } });
  log.info({ account: name }, 'ban begins');
  assert.doesNotMatch(text(), /[^\P{Cc}\n]|\p{Bidi_Control}/u);
  assert.equal(text().split('\n').length, 3);
});
