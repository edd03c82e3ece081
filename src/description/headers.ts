import { BASE_LENGTH, ORIGIN_LENGTH } from '../config/addresses.ts';
import { PLANS } from '../domain/plan.ts';
import { entityTag } from '../domain/json.ts';
import { take, UNUSED } from '../limits/quota.ts';
import type { AnyParameter } from '../http/parameters.ts';
import { GET_PET_DEPRECATION } from '../resources/pets/operations.ts';
import { EXAMPLE_PET } from '../resources/pets/schema.ts';
import { ACCEPT_PATCH } from '../http/body.ts';
import { REQUEST_ID } from '../http/request-headers.ts';
import { deprecationHeaders } from '../http/routes.ts';
import { type Fields, namesAndValues } from 'direct-http';
import { rateHeaders, retryAfter } from '../http/rate-limit.ts';
import type { Header, Refs } from './types.ts';

/** The time of the examples: half a minute before a full hour, so that the windows are easy to read. */
const NOW = { unix: Date.UTC(2026, 11, 1, 12, 59, 30), monotonic: 0 };

/** A string of this form, at most `maxLength` characters long. */
const text = (pattern: RegExp, maxLength: number) =>
  ({ type: 'string', pattern: pattern.source, maxLength }) as const;
const exactly = (value: string) => ({ type: 'string', const: value }) as const;
const whole = { type: 'integer', format: 'int32', minimum: 0, maximum: 2 ** 31 - 1 } as const;
const links = (maxLength: number) => text(/^<[^>]+>; rel="[a-z-]+"(?:, <[^>]+>; rel="[a-z-]+")*$/, maxLength);

const RETRY_AFTER = {
  description: 'Whole seconds to wait before trying again.',
  schema: { ...whole, minimum: 1 },
  example: Number(retryAfter(17_000).seconds),
} satisfies Header;

/** The response headers, as reusable components; the examples are for the base address `base`. */
export function headerComponents(base: string) {
  const rate = pairs(rateHeaders(take(UNUSED, PLANS.free, NOW).quota));
  const deprecation = pairs(deprecationHeaders(GET_PET_DEPRECATION, base));
  return {
    'X-RateLimit-Limit': {
      description: 'The limit that applies to the caller, in the window with the fewest requests remaining.',
      schema: whole,
      example: Number(rate['X-RateLimit-Limit']),
    },
    'X-RateLimit-Remaining': {
      description: 'Requests remaining in that window.',
      schema: whole,
      example: Number(rate['X-RateLimit-Remaining']),
    },
    'X-RateLimit-Reset': {
      description: 'When that window ends and the limit resets: a Unix timestamp in seconds.',
      schema: { type: 'integer', format: 'int64', minimum: 0 },
      example: Number(rate['X-RateLimit-Reset']),
    },
    'RateLimit-Policy': {
      description: 'Both limits: requests `q` per window of `w` seconds.',
      schema: text(/^"minute";q=\d+;w=60, "day";q=\d+;w=86400$/, 100),
      example: `${rate['RateLimit-Policy']}`,
    },
    RateLimit: {
      description: 'Both windows: `r` requests remaining, `t` seconds until the limit resets.',
      schema: text(/^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/, 100),
      example: `${rate['RateLimit']}`,
    },
    'X-Request-Id': {
      description:
        'Identifies the request in the logs of the service: the one that was sent, else a new one.',
      schema: text(REQUEST_ID, 128),
      example: 'q3Zt8_fW1xKc-Y0nRb7u',
    },
    'Access-Control-Allow-Origin': {
      description: 'On a request with `Origin`: who may read the response in a browser.',
      schema: text(/^(?:\*|https?:\/\/[^/]+)$/, ORIGIN_LENGTH),
      example: '*',
    },
    'Retry-After': RETRY_AFTER,
    'WWW-Authenticate': {
      description: 'The authentication scheme to use.',
      schema: exactly('Bearer'),
      example: 'Bearer',
    },
    ETag: {
      description: 'Identifies exactly this content; send it back in `If-None-Match`.',
      schema: text(/^"[A-Za-z0-9_-]+"$/, 64),
      example: entityTag(JSON.stringify(EXAMPLE_PET)),
    },
    'Cache-Control': {
      description: 'Only the caller may keep the response, and must ask whether it still holds.',
      schema: exactly('private, no-cache'),
      example: 'private, no-cache',
    },
    NoStore: {
      description: 'Nothing may store the response: it is secret, or true for this moment only.',
      schema: exactly('no-store'),
      example: 'no-store',
    },
    'Idempotent-Replay': {
      description: 'Present, and `true`, when the response repeats that of an earlier request.',
      schema: { type: 'boolean' },
      example: true,
    },
    Deprecation: {
      description: 'Since when the operation is deprecated (RFC 9745): `@` and a Unix timestamp in seconds.',
      schema: text(/^@\d+$/, 20),
      example: `${deprecation['Deprecation']}`,
    },
    Sunset: {
      description: 'When the operation is removed (RFC 8594).',
      schema: text(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/, 29),
      example: `${deprecation['Sunset']}`,
    },
    Allow: {
      description: 'The methods that the path takes; on 405.',
      schema: text(/^[A-Z]+(?:, [A-Z]+)*$/, 100),
      example: 'GET, HEAD, POST, OPTIONS',
    },
    'Accept-Patch': {
      description: 'The media types that the body of a PATCH may have (RFC 5789).',
      schema: exactly(namesAndValues(ACCEPT_PATCH)[1] ?? ''),
      example: namesAndValues(ACCEPT_PATCH)[1] ?? '',
    },
    DeprecationLinks: {
      description: 'What to read about the deprecation, and the operation that takes over.',
      schema: links(2_000),
      example: `${deprecation['Link']}`,
    },
  } as const satisfies Record<string, Header>;
}

/** Characters of the longest address without its query: a base address, the longest path, and what `Link` adds. */
const LONGEST_ADDRESS = BASE_LENGTH + 200;

/** `Link` of a list with these parameters at the address `address`. */
export function nextLink(
  address: string,
  parameters: Readonly<Record<string, AnyParameter>>,
  presence: string,
): Header {
  const [name, cursor] = Object.entries(parameters).find(([, { isCursor }]) => isCursor) ?? [];
  const limit = parameters['limit']?.absent as number;
  const longest = Object.entries(parameters).reduce((sum, each) => sum + longestPart(...each), 0);
  return {
    description: `The next page (\`rel="next"\`, RFC 8288). ${presence}`,
    schema: links(LONGEST_ADDRESS + longest),
    example: `<${address}?limit=${limit}&${name}=${String(cursor?.example)}>; rel="next"`,
  };
}

/** Characters of the longest `name=value&` of a parameter. A list has one for each of its values. */
function longestPart(name: string, { schema, longest }: AnyParameter): number {
  return Number(schema['maxItems'] ?? 1) * (name.length + longest + 2);
}

/** `Location` of a thing with this id that was added at the address `address`. */
export function location(address: string, id: unknown): Header {
  return {
    description: 'The address of what was added.',
    schema: { type: 'string', format: 'uri', maxLength: 2_000 },
    example: `${address}/${String(id)}`,
  };
}

type HeaderComponent = keyof ReturnType<typeof headerComponents>;

const NAMES: Partial<Record<HeaderComponent, string>> = {
  DeprecationLinks: 'Link',
  NoStore: 'Cache-Control',
};

/** References to header components, by the name of the header. */
export function headerRefs(...components: readonly HeaderComponent[]): Refs {
  return Object.fromEntries(
    components.map((name) => [NAMES[name] ?? name, { $ref: `#/components/headers/${name}` as const }]),
  );
}

function pairs(headers: Fields): Record<string, string | undefined> {
  return Object.fromEntries(
    namesAndValues(headers).flatMap((name, index, all) => (index % 2 === 0 ? [[name, all[index + 1]]] : [])),
  );
}
