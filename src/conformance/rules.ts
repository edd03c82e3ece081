// What the contract promises of every answer, wherever it comes from.
import { ERRORS, type ErrorCode, MESSAGE_LENGTH } from '../domain/errors.ts';
import { mayHoldApiKey } from '../domain/api-key.ts';
import { INT64_MAX, INT64_MIN } from '../domain/int64.ts';
import { type Answer, describeAnswer, type Issue, show } from './answer.ts';
import type { Description } from './description.ts';
import { isObject, type Json, member, toText } from './json.ts';
import { compareWindows, describedWindow, isAdrift, type Kind, readRateHeaders } from './windows.ts';

/** A promise that holds for answers of every operation. */
export interface Rule {
  readonly section: string;
  readonly promise: string;
  /** Undefined: it says nothing of this answer. */
  readonly inspect: (answer: Answer) => 'kept' | Issue | undefined;
}

const KINDS: readonly Kind[] = ['minute', 'day'];

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers without a body. */
const isBare = ({ request, status }: Answer) => request.method === 'HEAD' || status === 204 || status === 304;

const isRefusal = ({ status }: Answer) => status >= 400;

const issue = (expected: string, came: string): Issue => ({ expected, came });

const expectHeader = (answer: Answer, name: string, form: RegExp, expected: string) => {
  const value = answer.headers[name];
  return value !== undefined && form.test(value)
    ? ('kept' as const)
    : issue(
        `${name}: ${expected}`,
        `${answer.status} with ${value === undefined ? `no ${name}` : `${name}: ${show(value)}`}`,
      );
};

/** The first of several that is no 'kept'. */
function all(...results: readonly ('kept' | Issue)[]): 'kept' | Issue {
  return results.find((result) => result !== 'kept') ?? 'kept';
}

/** The rules, for answers that are inspected in the order in which they came. `base` are the base addresses of the deployment. */
export function rulesOf(description: Description, bases: () => readonly string[]): readonly Rule[] {
  const resets = new Map<string, number>();

  const api =
    (inspect: Rule['inspect']): Rule['inspect'] =>
    (answer) =>
      answer.request.isPage ? undefined : inspect(answer);

  const rateHeaders = (answer: Answer) =>
    all(
      ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) =>
        expectHeader(answer, name, /^\d+$/, 'an integer'),
      ),
    );

  return [
    {
      section: '2.2',
      promise: 'every number in an answer is an int64 in plain digits',
      inspect: api(({ json }) => {
        if (json === undefined) return undefined;
        const wrong = findValue(json, (value) =>
          typeof value === 'bigint' ? value < INT64_MIN || value > INT64_MAX : typeof value === 'number',
        );
        return wrong === undefined ? 'kept' : issue('an integer', toText(wrong));
      }),
    },
    {
      section: '2.4',
      promise: 'a field that is not set is absent from every answer, and never null',
      inspect: api(({ json, status }) => {
        if (json === undefined || status >= 400) return undefined;
        const holder = findValue(json, (value) => isObject(value) && Object.values(value).includes(null));
        return holder === undefined ? 'kept' : issue('no null', show(toText(holder)));
      }),
    },
    {
      section: '3.3',
      promise: 'a 201 carries Location, the address of what was added',
      inspect: api((answer) => {
        if (answer.status !== 201) return undefined;
        const path = answer.request.path.replace(/\/\d+\/rotate$/, '').replace(/\?.*/, '');
        const addresses = bases().map((base) => `${base}${path}/${toText(member(answer.json, 'id'))}`);
        const location = answer.headers['location'];
        return location !== undefined && addresses.includes(location)
          ? 'kept'
          : issue(
              `Location: ${addresses.join(' or ')}`,
              location === undefined ? 'no Location' : show(location),
            );
      }),
    },
    {
      section: '3.5',
      promise: 'every answer of getPet carries Deprecation, Sunset, and the links to reference and successor',
      inspect: api((answer) => {
        if (answer.operation?.operationId !== 'getPet' || answer.status === 401) return undefined;
        const link = answer.headers['link'] ?? '';
        return all(
          expectHeader(answer, 'deprecation', /^@1764892800$/, '@1764892800'),
          expectHeader(answer, 'sunset', /^Thu, 05 Dec 2030 00:00:00 GMT$/, 'Thu, 05 Dec 2030 00:00:00 GMT'),
          /<[^>]+\/reference[^>]*>; rel="deprecation"/.test(link) &&
            /<[^>]+\/pets>; rel="successor-version"/.test(link)
            ? 'kept'
            : issue('Link with rel="deprecation" and rel="successor-version"', show(link) || 'no Link'),
        );
      }),
    },
    {
      section: '3.6',
      promise: 'answers to GET carry an ETag and Cache-Control: private, no-cache',
      inspect: api((answer) => {
        const { operation, status, request } = answer;
        if (operation?.method !== 'GET' || operation.operationId === 'listEvents') return undefined;
        if (request.method !== 'GET' || (status !== 200 && status !== 304)) return undefined;
        return all(
          expectHeader(answer, 'etag', /^(?:W\/)?"[^"]+"$/, 'an entity tag'),
          expectHeader(answer, 'cache-control', /^private, no-cache$/, 'private, no-cache'),
        );
      }),
    },
    {
      section: '3.8',
      promise: 'every answer carries X-Request-Id',
      inspect: api((answer) =>
        expectHeader(answer, 'x-request-id', /^[A-Za-z0-9._-]{1,128}$/, '1 to 128 characters'),
      ),
    },
    {
      section: '4.1',
      promise: 'every error has the Error body: code, message and status, and nothing else',
      inspect: api((answer) => {
        if (!isRefusal(answer) || isBare(answer)) return undefined;
        const { json, status } = answer;
        const names = isObject(json) ? Object.keys(json).toSorted().join() : '';
        const message = member(json, 'message');
        const fits =
          names === 'code,message,status' &&
          typeof member(json, 'code') === 'string' &&
          typeof message === 'string' &&
          message.length > 0 &&
          Array.from(message).length <= MESSAGE_LENGTH &&
          member(json, 'status') === BigInt(status);
        return fits
          ? 'kept'
          : issue(`{"code":…,"message":…,"status":${status}} and nothing else`, describeAnswer(answer));
      }),
    },
    {
      section: '4.1',
      promise: `every body below /v1 is ${JSON_TYPE}`,
      inspect: api((answer) => {
        if (isBare(answer)) return undefined;
        return answer.headers['content-type'] === JSON_TYPE
          ? 'kept'
          : issue(
              `Content-Type: ${JSON_TYPE}`,
              `${answer.status} with ${show(answer.headers['content-type'] ?? 'no Content-Type')}`,
            );
      }),
    },
    {
      section: '4.2',
      promise: 'every code is one of the closed set, with its status',
      inspect: api((answer) => {
        const code = member(answer.json, 'code');
        if (!isRefusal(answer) || typeof code !== 'string') return undefined;
        const kind = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
        const isOfStatus = kind?.status === answer.status;
        return isOfStatus || (code === 'invalid_request' && HTTP_STATUSES.has(answer.status))
          ? 'kept'
          : issue(`a code of status ${answer.status}`, describeAnswer(answer));
      }),
    },
    {
      section: '4.2',
      promise: '401 carries WWW-Authenticate: Bearer',
      inspect: api((answer) =>
        answer.status === 401 ? expectHeader(answer, 'www-authenticate', /^Bearer/, 'Bearer') : undefined,
      ),
    },
    {
      section: '4.2',
      promise: '405 carries Allow',
      inspect: api((answer) =>
        answer.status === 405
          ? expectHeader(answer, 'allow', /\bOPTIONS\b/, 'the methods of the path')
          : undefined,
      ),
    },
    {
      section: '4.2',
      promise: '429 and 503 carry Retry-After',
      inspect: api((answer) =>
        answer.status === 429 || answer.status === 503
          ? expectHeader(answer, 'retry-after', /^[1-9]\d*$/, 'whole seconds, at least 1')
          : undefined,
      ),
    },
    {
      section: '5.3',
      promise: 'no answer shows a key, except the one that creates it',
      inspect: api(({ text, status, request }) => {
        if (status === 201 && request.path.startsWith('/account/keys')) return undefined;
        return mayHoldApiKey(text) ? issue('no key', 'a text that begins like a key') : 'kept';
      }),
    },
    {
      section: '6.2',
      promise: 'a window ends at its reset, and not before',
      inspect: ({ counted, before }) => {
        if (counted === undefined || before === undefined) return undefined;
        for (const kind of KINDS) {
          const step = compareWindows(before, counted, kind);
          const { remaining, left } = before.rate[kind];
          const now = counted.rate[kind];
          if (step === 'early' || (step === 'same' && now.remaining > remaining))
            return issue(
              `the ${kind} in which ${remaining} remained to go on for ${left} s`,
              `${now.remaining} remain, for ${now.left} s`,
            );
        }
        return 'kept';
      },
    },
    {
      section: '6.2',
      promise: 'every request with a valid key counts in both windows, whatever its status',
      inspect: ({ counted, before, status }) => {
        if (counted === undefined || before === undefined || status === 429) return undefined;
        for (const kind of KINDS) {
          const [one, other] = [before.rate[kind].remaining, counted.rate[kind].remaining];
          if (compareWindows(before, counted, kind) === 'same' && other === one)
            return issue(`fewer than ${one} to remain of the ${kind}`, `${other} remain after a ${status}`);
        }
        return 'kept';
      },
    },
    {
      section: '6.3',
      promise: 'every answer below /v1 carries the three rate headers, as integers',
      inspect: api((answer) => (isRefusal(answer) ? undefined : rateHeaders(answer))),
    },
    {
      section: '6.3',
      promise: 'every refusal carries the three rate headers, too',
      inspect: api((answer) => (isRefusal(answer) ? rateHeaders(answer) : undefined)),
    },
    {
      section: '6.3',
      promise: 'RateLimit-Policy and RateLimit show both windows',
      inspect: api((answer) =>
        all(
          expectHeader(
            answer,
            'ratelimit-policy',
            /^"minute";q=\d+;w=60, "day";q=\d+;w=86400$/,
            'both limits',
          ),
          expectHeader(answer, 'ratelimit', /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/, 'both windows'),
        ),
      ),
    },
    {
      section: '6.3',
      promise:
        'the three headers describe the window with the fewest requests remaining, or the one that refused',
      inspect: api(({ headers, status }) => {
        const rate = readRateHeaders(headers);
        if (rate === undefined) return undefined;
        const { limit, remaining } = rate[describedWindow(rate)];
        const came = `${rate.remaining} of ${rate.limit} remain, where RateLimit has ${rate.minute.remaining} of ${rate.minute.limit} and ${rate.day.remaining} of ${rate.day.limit}`;
        if (status === 429) return rate.remaining === 0 ? 'kept' : issue('0 to remain', came);
        return rate.limit === limit && rate.remaining === remaining && remaining <= limit
          ? 'kept'
          : issue(`X-RateLimit-Remaining: ${remaining} of X-RateLimit-Limit: ${limit}`, came);
      }),
    },
    {
      section: '6.3',
      promise: 'X-RateLimit-Reset is the same in every answer of a window, and midnight UTC for a day',
      inspect: ({ counted, before, bucket, status }) => {
        if (counted === undefined || bucket === undefined || status === 429) return undefined;
        const { reset } = counted.rate;
        const kind = describedWindow(counted.rate);
        if (kind === 'day' && reset % 86_400 !== 0)
          return issue('midnight UTC', `X-RateLimit-Reset: ${reset}`);
        for (const each of KINDS)
          if (before !== undefined && compareWindows(before, counted, each) !== 'same')
            resets.delete(`${bucket} ${each}`);
        const known = resets.get(`${bucket} ${kind}`) ?? reset;
        resets.set(`${bucket} ${kind}`, reset);
        return known === reset ? 'kept' : issue(`X-RateLimit-Reset: ${known}`, `X-RateLimit-Reset: ${reset}`);
      },
    },
    {
      section: '6.3',
      promise: 'the seconds until the reset pass as they do here',
      inspect: ({ counted, before, status }) => {
        if (counted === undefined || before === undefined || status === 429) return undefined;
        return isAdrift(before, counted)
          ? issue(
              `${Math.round(counted.receivedAt - before.receivedAt)} s to pass`,
              `reset ${before.rate.reset} in ${before.rate[describedWindow(before.rate)].left} s, then reset ${counted.rate.reset} in ${counted.rate[describedWindow(counted.rate)].left} s`,
            )
          : 'kept';
      },
    },
    {
      section: '6.4',
      promise: 'Retry-After of a 429 is the time until X-RateLimit-Reset',
      inspect: api((answer) => {
        const rate = readRateHeaders(answer.headers);
        const wait = Number(answer.headers['retry-after']);
        if (answer.status !== 429 || rate === undefined || answer.operation?.operationId === 'replayWebhook')
          return undefined;
        const least = Math.min(rate.minute.left, rate.day.left);
        const most = Math.max(rate.minute.left, rate.day.left, 1);
        return wait >= least && wait <= most
          ? 'kept'
          : issue(`Retry-After from ${least} to ${most}`, `Retry-After: ${wait}`);
      }),
    },
    {
      section: '9',
      promise: 'every answer is one that the description has for its operation',
      inspect: api((answer) => {
        const { operation, status, json, headers } = answer;
        if (operation === undefined || status === 429 || status >= 500) return undefined;
        // Whether a code is one of the set is a promise of its own.
        if (isRefusal(answer) && !isBare(answer) && !isCode(member(json, 'code'))) return undefined;
        const response =
          isBare(answer) && isRefusal(answer)
            ? {}
            : description.response(operation, status, member(json, 'code'));
        const expected = `an answer of ${operation.operationId}`;
        if (response === undefined) return issue(expected, describeAnswer(answer));
        const wrong = isBare(answer) || isRefusal(answer) ? undefined : description.bodyIssue(response, json);
        if (wrong !== undefined) return issue(expected, `${status}: ${wrong}`);
        for (const [name, value] of Object.entries(headers)) {
          const headerIssue = OWN_RULES.has(name)
            ? undefined
            : description.headerIssue(response, name, value);
          if (headerIssue !== undefined) return issue(expected, `${status} with ${show(headerIssue)}`);
        }
        return 'kept';
      }),
    },
  ];
}

const isCode = (code: Json | undefined) => typeof code === 'string' && Object.hasOwn(ERRORS, code);

/** Statuses of the HTTP layer that have the code `invalid_request`. */
const HTTP_STATUSES: ReadonlySet<number> = new Set([400, 408, 417, 431, 501, 505]);

/** Headers of which other rules say more. */
const OWN_RULES: ReadonlySet<string> = new Set([
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
  'x-request-id',
  'etag',
  'cache-control',
  'deprecation',
  'sunset',
  'location',
  'www-authenticate',
  'allow',
  'retry-after',
]);

/** The first value, at any depth, that fits. */
function findValue(value: Json | undefined, fits: (value: Json | undefined) => boolean): Json | undefined {
  if (fits(value)) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const inner of Object.values(value) as readonly (Json | undefined)[]) {
    const found = findValue(inner, fits);
    if (found !== undefined) return found;
  }
  return undefined;
}
