/* How responses are written down: what is random by a placeholder, what is always the same by a word. */

/** Secrets, ids and other random texts, and what stands for them. */
const RANDOM: readonly (readonly [RegExp, string])[] = [
  [/petstore_(live|test|admin)_[0-9A-Za-z]{38}/g, 'petstore_$1_<random>'],
  [/whsec_[\w+/]+=/g, 'whsec_<random>'],
  [/http:\/\/(?:localhost|127\.0\.0\.1):\d{4,}/g, 'http://<listener>'],
  [/(sign-in#)[\w-]{43}/g, '$1<random>'],
  [/"ending":"[0-9A-Za-z]{4}"/g, '"ending":"<random>"'],
  [/"request":\{"headers":.*\}(?=\})/g, '"request":<random>'],
  [/(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g, '<random>'],
  [/(after=)[\w-]+/g, '$1<random>'],
  // Which delivery is the last one, because the service attempts them in the background.
  [/"id":\d+,"eventId":"[^"]*","type":"[^"]*"/g, '"id":<number>,"eventId":"<random>","type":"<any>"'],
  [/(deliveries\?limit=1&cursor=)[\w-]+/g, '$1<any>'],
  [/"(milliseconds|p50|p99|requestsPerSecond|durationMs)":[\d.]+/g, '"$1":<measured>'],
  // What is written in the background: when a key was used last, what a webhook missed, and the usage.
  [/,"(?:lastUsedAt|failingSince)":"[^"]*"/g, ''],
  [/"missed":\d+/g, '"missed":<any>'],
  [/"(minutes|hours)":\[[^\]]*\]/g, '"$1":[<any>]'],
];

/** Puts placeholders for secrets and other random texts. */
export function hideRandom(text: string): string {
  return RANDOM.reduce((hidden, [random, placeholder]) => hidden.replaceAll(random, placeholder), text);
}

/** Headers that most responses have, with a word for all of them. */
const USUAL: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  usual: {
    Connection: /^close$/,
    Date: /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
    'X-Request-Id': /^[\w-]{20}$/,
  },
  JSON: { 'Content-Type': /^application\/json; charset=utf-8$/ },
  'rate headers of plenty': rateHeaders(1_000_000_000, 1_000_000_000),
  'rate headers of a holder': rateHeaders(60, 5_000),
  console: { 'Cross-Origin-Resource-Policy': /^same-origin$/, 'Cache-Control': /^no-store$/ },
};

function rateHeaders(perMinute: number, perDay: number): Readonly<Record<string, RegExp>> {
  return {
    'X-RateLimit-Limit': RegExp(`^${perMinute}$`),
    'X-RateLimit-Remaining': /^\d+$/,
    'X-RateLimit-Reset': /^\d{10}$/,
    'RateLimit-Policy': RegExp(`^"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400$`),
    RateLimit: /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/,
  };
}

/** A response, as it was on the wire, as a fixture has it. Headers are sorted, because their order says nothing. */
export function describeResponse(response: string): string {
  const [head = '', text = ''] = response.split('\r\n\r\n');
  const [status = '', ...lines] = head.split('\r\n');
  const body = hideRandom(text);
  const words: string[] = [];
  let headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  const take = (word: string, usual: Readonly<Record<string, RegExp>>) => {
    const rest = headers.filter(([name, value]) => usual[name]?.test(value) !== true);
    if (headers.length - rest.length < Object.keys(usual).length) return;
    headers = rest;
    words.push(word);
  };
  if (text !== '') take('length', { 'Content-Length': RegExp(`^${Buffer.byteLength(text)}$`) });
  for (const [word, usual] of Object.entries(USUAL)) take(word, usual);
  const shown = headers.map(([name, value]) =>
    name === 'ETag' && body !== text ? 'ETag: <random>' : `${name}: ${hideRandom(value)}`,
  );
  return [status.replace('HTTP/1.1 ', ''), ...shown.toSorted(), `(${words.join(', ')})`, body]
    .map((line) => `< ${line}`)
    .join('\n')
    .replace(/\n< $/, '');
}
