import { hash } from 'node:crypto';
import type { WireResponse } from './wire.ts';

/* How responses are written down: what is random by a placeholder, what is always the same by a word. */

/** Bodies beyond it are recorded by their hash, in bytes. */
const LARGEST_BODY = 4 * 1024;

/** Secrets and other random texts, and what stands for them. */
const RANDOM: readonly (readonly [RegExp, string])[] = [
  [/petstore_(live|test|admin)_[0-9A-Za-z]{38}/g, 'petstore_$1_<random>'],
  [/http:\/\/localhost:\d+(?=\/sign-in)/g, 'http://<listener>'],
  [/(sign-in#)[\w-]{43}/g, '$1<random>'],
  [/(petstore_console\w*=)[\w-]{43}/g, '$1<random>'],
  [/"ending":"[0-9A-Za-z]{4}"/g, '"ending":"<random>"'],
  [/request id [\w-]{20}(?![\w-])/g, 'request id <random>'],
  // Of a script in a page.
  [/'sha256-[\w+/=]+'/g, "'sha256-<hash>'"],
  // Times that were measured.
  [/"(milliseconds|p50|p99|requestsPerSecond)":[\d.]+/g, '"$1":<measured>'],
];

/** When a key was used last: it is written in the background. */
const LAST_USED = /,"lastUsedAt":"[^"]*"/g;

/** Headers that most responses have, with a word for all of them. */
const USUAL: readonly (readonly [
  word: string,
  headers: readonly (readonly [name: string, value: RegExp])[],
])[] = [
  [
    'usual',
    [
      ['Date', /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/],
      ['X-Request-Id', /^[\w-]{20}$/],
    ],
  ],
  [
    'kept alive',
    [
      ['Connection', /^keep-alive$/],
      ['Keep-Alive', /^timeout=75$/],
    ],
  ],
  ['JSON', [['Content-Type', /^application\/json; charset=utf-8$/]]],
  [
    'rate headers of plenty',
    [
      ['X-RateLimit-Limit', /^1000000000$/],
      // Nothing is used yet in a minute that has just begun.
      ['X-RateLimit-Remaining', /^(?:999999\d{3}|1000000000)$/],
      ['X-RateLimit-Reset', /^\d{10}$/],
      ['RateLimit-Policy', /^"minute";q=1000000000;w=60, "day";q=1000000000;w=86400$/],
      [
        'RateLimit',
        /^"minute";r=(?:999999\d{3}|1000000000);t=\d+, "day";r=(?:999999\d{3}|1000000000);t=\d+$/,
      ],
    ],
  ],
  [
    'rate headers of an address',
    [
      ['X-RateLimit-Limit', /^60$/],
      ['X-RateLimit-Remaining', /^\d+$/],
      ['X-RateLimit-Reset', /^\d{10}$/],
      ['RateLimit-Policy', /^"minute";q=60;w=60, "day";q=1000;w=86400$/],
      ['RateLimit', /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/],
    ],
  ],
  [
    'rate headers of a holder',
    [
      ['X-RateLimit-Limit', /^60$/],
      ['X-RateLimit-Remaining', /^\d+$/],
      ['X-RateLimit-Reset', /^\d{10}$/],
      ['RateLimit-Policy', /^"minute";q=60;w=60, "day";q=5000;w=86400$/],
      ['RateLimit', /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/],
    ],
  ],
  [
    'console',
    [
      ['X-Frame-Options', /^DENY$/],
      ['Cross-Origin-Resource-Policy', /^same-origin$/],
      ['X-Content-Type-Options', /^nosniff$/],
      ['Cache-Control', /^no-store$/],
    ],
  ],
];

interface Options {
  readonly isAboutLimits: boolean;
  /** Texts that are saved, and their names. Only those that are random. */
  readonly replace: Mask;
  /** For bodies that may change in any byte. */
  readonly withoutBody: boolean;
  /** Whether a large body is kept, too. */
  readonly isWhole: boolean;
  /** Whether a response without its body has the tag of a random body. */
  readonly isTagRandom: boolean;
}

type Mask = (text: string) => string;

/** A response as a fixture has it. Headers are sorted, because their order says nothing. */
export function describeResponse(response: WireResponse, options: Options): string {
  const { isAboutLimits, replace, isTagRandom } = options;
  const text = response.body.toString('utf8');
  const body = hideRandom(replace(text)).replaceAll(LAST_USED, '');
  const isRandom = body !== text;
  const words: string[] = [];
  let headers = response.headers.filter(([name]) => name !== 'Content-Length' || !isRandom);
  const length = response.headers.find(([name]) => name === 'Content-Length')?.[1];
  if (length === `${response.body.length}` && response.body.length > 0) {
    headers = headers.filter(([name]) => name !== 'Content-Length');
    words.push('length');
  }
  for (const [word, usual] of USUAL) {
    if (isAboutLimits && word.startsWith('rate')) continue;
    const found = usual.flatMap(([name, value]) => {
      const header = headers.find((each) => each[0] === name && value.test(each[1]));
      return header === undefined ? [] : [header];
    });
    if (found.length < usual.length) continue;
    const isFound = new Set(found);
    headers = headers.filter((header) => !isFound.has(header));
    words.push(word);
  }
  const lines = headers.map(([name, value]) => {
    if (name === 'Date') return `${name}: <date>`;
    if (name === 'X-Request-Id' && /^[\w-]{20}$/.test(value)) return `${name}: <random>`;
    if (name === 'ETag' && (isRandom || isTagRandom || options.withoutBody)) return `${name}: <random>`;
    return `${name}: ${hideRandom(replace(value))}`;
  });
  const head = [`< ${response.statusLine}`, ...lines.toSorted().map((line) => `< ${line}`)];
  if (words.length > 0) head.push(`< (${words.join(', ')})`);
  return [...head, ...describeBody(response, body, options)].join('\n');
}

function describeBody(
  { body, status }: WireResponse,
  text: string,
  { withoutBody, isWhole }: Options,
): string[] {
  if (body.length === 0) return [];
  if (withoutBody && status === 200) return ['(a body)'];
  if (body.length > LARGEST_BODY && !isWhole)
    return [`(${body.length} bytes, SHA-256 ${hash('sha256', text)})`];
  return [text];
}

/** Puts placeholders for secrets and other random texts. */
export function hideRandom(text: string): string {
  let hidden = text;
  for (const [random, placeholder] of RANDOM) hidden = hidden.replaceAll(random, placeholder);
  return hidden;
}

/** Hides instants of the counter: with Redis they are those of the server, whose clock no test can move. */
export function hideCounterTimes(text: string): string {
  const isInBody = /"(reset|until|bannedUntil)":/.test(text);
  const isOfCounter = text.includes('\n< 429 ');
  return (isInBody ? text.replace(/ETag: .*/, 'ETag: <counter>') : text)
    .replaceAll(/Retry-After: \d+/g, isOfCounter ? 'Retry-After: <counter>' : '$&')
    .replaceAll(/X-RateLimit-Reset: \d+/g, 'X-RateLimit-Reset: <counter>')
    .replaceAll(/;t=\d+/g, ';t=<counter>')
    .replaceAll(/(wait |ends in )\d+/g, '$1<counter>')
    .replaceAll(/"remaining":(?:999999\d{3}|1000000000)/g, '"remaining":<counter>')
    .replaceAll(/"reset":\d+/g, '"reset":<counter>')
    .replaceAll(/"(until|bannedUntil)":"[^"]*"/g, '"$1":"<counter>"');
}

/** A text with long repetitions written short. */
export function shorten(text: string): string {
  return text.replaceAll(/(.)\1{99,}/gs, (run, one: string) => `<${run.length} times ${one}>`);
}
