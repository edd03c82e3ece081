import type { Socket } from 'node:net';
import type { Behaviour, ProxiedRequest, ProxiedResponse } from './faulty-service.ts';

/** A service that breaks the contract in one way. */
export interface ContractFault {
  readonly name: string;
  /** The promises that break, by how they begin, in the order of the contract. The first one is the fault itself. */
  readonly breaks: readonly string[];
  /** Begins anew for each run. */
  readonly begin: () => Behaviour;
  /** Of the account; else those of the plan Business. */
  readonly limits?: { readonly perMinute: number; readonly perDay: number };
}

type Change = Partial<ProxiedResponse> | undefined;

/** Changes answers. */
const answering =
  (change: (answer: ProxiedResponse, request: ProxiedRequest) => Change): ContractFault['begin'] =>
  () =>
  async (request, forward) => {
    const answer = await forward(request);
    return { ...answer, ...change(answer, request) };
  };

/** Changes requests. */
const taking =
  (change: (request: ProxiedRequest) => Partial<ProxiedRequest> | undefined): ContractFault['begin'] =>
  () =>
  (request, forward) =>
    forward({ ...request, ...change(request) });

/** Leaves out headers. */
const without = (headers: ProxiedResponse['headers'], ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

const withHeader = ({ headers }: ProxiedResponse, name: string, value: string): Change => ({
  headers: { ...headers, [name]: value },
});

/** An error as the service would give it. */
const refusal = (
  { headers }: ProxiedResponse,
  status: number,
  code: string,
  message = 'Refused.',
): Change => ({
  status,
  headers: {
    ...without(headers, 'etag', 'cache-control'),
    'content-type': 'application/json; charset=utf-8',
  },
  body: JSON.stringify({ code, message, status }),
});

/** Replaces numbers above 2^53 in a body. */
const large = (body: string, replace: (digits: string) => string) =>
  body.replaceAll(/(?<=:)-?\d{16,}/g, replace);

const isList = ({ method, path }: ProxiedRequest) =>
  /^(?:GET|HEAD)$/.test(method) && /^\/v1\/pets(?:\?|$)/.test(path);
const isPet = ({ path }: ProxiedRequest) => /^\/v1\/pets\/-?\d+$/.test(path);
const isPost = ({ method, path }: ProxiedRequest) => method === 'POST' && path === '/v1/pets';
const query = ({ path }: ProxiedRequest) => new URLSearchParams(path.replace(/^[^?]*\??/, ''));
const elementsOf = (body: string): string[] =>
  body
    .slice(1, -1)
    .split(/(?<=\}),(?=\{"id")/)
    .filter(Boolean);

/** Rewrites what remains of the minute, and the header that describes it. */
function showMinute(
  { headers }: ProxiedResponse,
  show: (remaining: number, limit: number) => number,
): Change {
  const [, limit = ''] = /"minute";q=(\d+)/.exec(headers['ratelimit-policy'] ?? '') ?? [];
  const [, minute = '', day = ''] =
    /"minute";r=(\d+);t=\d+, "day";r=(\d+)/.exec(headers['ratelimit'] ?? '') ?? [];
  if (minute === '') return undefined;
  const remaining = show(Number(minute), Number(limit));
  return {
    headers: {
      ...headers,
      ratelimit: (headers['ratelimit'] ?? '').replace(/r=\d+/, `r=${remaining}`),
      ...(Number(minute) <= Number(day) && { 'x-ratelimit-remaining': String(remaining) }),
    },
  };
}

const isPlan = ({ path, method }: ProxiedRequest) =>
  method !== 'OPTIONS' && path.startsWith('/v1/') && !/^\/v1\/(?:account|webhooks)/.test(path);

/** A request of the account that is counted for the plan. */
const oneMore = (request: ProxiedRequest): ProxiedRequest => ({
  ...request,
  method: 'GET',
  path: '/v1/pets?limit=1',
  body: Buffer.alloc(0),
});

export const CONTRACT_FAULTS: readonly ContractFault[] = [
  {
    name: 'the description lacks an operation',
    breaks: ['1.1 the published description'],
    begin: answering(({ body }, { path }) =>
      path === '/openapi.json' ? { body: body.replace('"/store/inventory"', '"/store/stock"') } : undefined,
    ),
  },
  {
    name: 'the description names a server without a version',
    breaks: ['1.2 the description names'],
    begin: answering(({ body }, { path }) =>
      path === '/openapi.json'
        ? { body: body.replace(/"servers": ?\[/, '$&{"url":"https://api.example/api"},') }
        : undefined,
    ),
  },
  {
    name: 'a page is missing',
    breaks: ['1.3 pages, descriptions and probes'],
    begin: answering((_, { path }) => (path === '/llms.txt' ? { status: 404 } : undefined)),
  },
  {
    name: 'metrics are on the public port',
    breaks: ['1.3 metrics'],
    begin: answering((_, { path }) => (path === '/metrics' ? { status: 200 } : undefined)),
  },
  {
    name: 'the path is looked up before the key',
    breaks: ['1.4 an unknown path'],
    begin: answering((answer, { path }) =>
      path === '/v1/no-such-path' ? refusal(answer, 404, 'not_found') : undefined,
    ),
  },
  {
    name: 'an unknown field is stored',
    breaks: ['2.1 fields that NewPet does not have'],
    begin: answering(({ body, status }, request) =>
      isPost(request) && status === 201 && request.body.includes('"colour"')
        ? { body: body.replace(/\}$/, ',"colour":"red"}') }
        : undefined,
    ),
  },
  {
    name: 'an id is rounded',
    breaks: ['2.2 a categoryId is exact', '2.2 every number in an answer'],
    begin: answering(({ body }) => ({ body: large(body, (digits) => String(BigInt(Number(digits)))) })),
  },
  {
    name: 'an id is written as a float',
    breaks: ['2.2 every number in an answer', '2.2 a categoryId is exact'],
    begin: answering(({ body }) => ({ body: large(body, (digits) => Number(digits).toExponential()) })),
  },
  {
    name: 'an id beyond int64 in a path is 400',
    breaks: ['2.2 the ends of int64'],
    begin: answering((answer, { path }) =>
      path === '/v1/pets/9223372036854775808'
        ? refusal(answer, 404, 'not_found') && refusal(answer, 400, 'invalid_parameter')
        : undefined,
    ),
  },
  {
    name: 'a name is trimmed',
    breaks: ['2.3 a name comes back'],
    begin: taking((request) =>
      isPost(request)
        ? { body: Buffer.from(request.body.toString('latin1').replace(/"name":" +/, '"name":"'), 'latin1') }
        : undefined,
    ),
  },
  {
    name: 'a status that is not set is null',
    breaks: ['2.4 a field that is not set'],
    begin: answering(({ body, status }, { path }) =>
      path.startsWith('/v1/pets') && status < 300
        ? { body: body.replaceAll(/("categoryId":-?\d+)(?!\d|,"status)/g, '$1,"status":null') }
        : undefined,
    ),
  },
  {
    name: 'names of categories are compared by their bytes',
    breaks: ['2.5 no two categories'],
    begin: () => async (request, forward) => {
      const answer = await forward(request);
      if (request.path !== '/v1/categories' || answer.status !== 409) return answer;
      const body = request.body.toString().replace('"name":"', '"name":"\u200b');
      return forward({ ...request, body: Buffer.from(body) });
    },
  },
  {
    name: 'an animal stays available while it is ordered',
    breaks: ['2.7 an animal is pending'],
    begin: () => {
      const ordered = new Set<string>();
      return async (request, forward) => {
        const answer = await forward(request);
        if (request.path === '/v1/store/orders' && answer.status === 201)
          ordered.add(`/v1/pets/${/"petId":(\d+)/.exec(answer.body)?.[1]}`);
        return ordered.has(request.path) && request.method === 'GET'
          ? { ...answer, body: answer.body.replace('"pending"', '"available"') }
          : answer;
      };
    },
  },
  {
    name: 'a DELETE with a body deletes',
    breaks: ['3.1 a DELETE with a body'],
    begin: taking(({ method }) => (method === 'DELETE' ? { body: Buffer.alloc(0) } : undefined)),
  },
  {
    name: 'a limit that is too large is clamped',
    breaks: ['3.2 an invalid limit'],
    begin: taking((request) =>
      isList(request) ? { path: request.path.replace('limit=101', 'limit=100') } : undefined,
    ),
  },
  {
    name: 'a limit that is no number counts as none',
    breaks: ['3.2 an invalid limit'],
    begin: taking((request) =>
      isList(request) ? { path: request.path.replace('limit=abc', '') } : undefined,
    ),
  },
  {
    name: 'a page has 50 animals without a limit',
    breaks: ['3.2 a page has at most limit'],
    begin: taking(({ path }) => (path === '/v1/pets' ? { path: '/v1/pets?limit=50' } : undefined)),
  },
  {
    name: 'an unknown status counts as none',
    breaks: ['3.2 an invalid status'],
    begin: taking((request) =>
      isList(request) ? { path: request.path.replace('status=lost', '') } : undefined,
    ),
  },
  {
    name: 'the status is no filter',
    breaks: ['3.2 with a status'],
    begin: taking((request) =>
      isList(request) ? { path: request.path.replace('status=sold', '') } : undefined,
    ),
  },
  {
    name: 'an unknown parameter is refused',
    breaks: ['3.2 unknown parameters'],
    begin: answering((answer, { path }) =>
      path.includes('no-such-parameter') ? refusal(answer, 400, 'invalid_parameter') : undefined,
    ),
  },
  {
    name: 'the case of a name counts',
    breaks: ['3.2 categoryId, name'],
    begin: taking(({ path }) => ({ path: path.replace('name=STRASSE', 'name=strasse.') })),
  },
  {
    name: 'the oldest animals come first',
    breaks: ['3.2 the newest animals', '3.2 following Link'],
    begin: answering(({ body, status }, request) =>
      isList(request) && status === 200
        ? { body: `[${elementsOf(body).toReversed().join(',')}]` }
        : undefined,
    ),
  },
  {
    name: 'a page begins with the last animal of the page before',
    breaks: ['3.2 following Link'],
    begin: () => {
      let last = '';
      return async (request, forward) => {
        const answer = await forward(request);
        if (!isList(request) || answer.status !== 200) return answer;
        const elements = elementsOf(answer.body);
        const repeated = query(request).has('cursor') ? [last, ...elements.slice(1)] : elements;
        last = elements.at(-1) ?? '';
        return { ...answer, body: `[${repeated.join(',')}]` };
      };
    },
  },
  {
    name: 'a page skips an animal',
    breaks: ['3.2 following Link'],
    begin: answering(({ body, status }, request) =>
      isList(request) && status === 200 && query(request).has('cursor')
        ? { body: `[${elementsOf(body).slice(1).join(',')}]` }
        : undefined,
    ),
  },
  {
    name: 'the last page has a Link',
    breaks: ['3.2 the last page'],
    begin: answering((answer, request) =>
      isList(request) &&
      answer.status === 200 &&
      answer.headers['link'] === undefined &&
      query(request).has('id')
        ? withHeader(answer, 'link', `<http://127.0.0.1/v1${request.path.slice(3)}&cursor=a>; rel="next"`)
        : undefined,
    ),
  },
  {
    name: 'Link is relative',
    breaks: ['3.2 Link is absolute'],
    begin: answering((answer, request) =>
      isList(request) && answer.headers['link'] !== undefined
        ? withHeader(answer, 'link', answer.headers['link'].replace(/<https?:\/\/[^/]+/, '<'))
        : undefined,
    ),
  },
  {
    name: 'Link loses the filters',
    breaks: ['3.2 Link is absolute'],
    begin: answering((answer, request) =>
      isList(request) && answer.headers['link'] !== undefined
        ? withHeader(answer, 'link', answer.headers['link'].replace(/categoryId=-?\d+&/, ''))
        : undefined,
    ),
  },
  {
    name: 'an id that is given twice counts twice',
    breaks: ['3.2 id returns'],
    begin: answering(({ body, status }, request) =>
      isList(request) && status === 200 && query(request).getAll('id').length === 3
        ? {
            body: `[${elementsOf(body)
              .flatMap((each) => [each, each])
              .join(',')}]`,
          }
        : undefined,
    ),
  },
  {
    name: 'a create is answered before it is stored',
    breaks: ['3.3 an animal is there'],
    begin: () => {
      const made = new Map<string, Socket>();
      return async (request, forward) => {
        const answer = await forward(request);
        if (isPost(request) && answer.status === 201)
          made.set(/"id":(\d+)/.exec(answer.body)?.[1] ?? '', request.socket);
        // Another instance does not have it yet.
        const id = isPet(request) ? request.path.slice('/v1/pets/'.length) : query(request).get('id');
        const maker = request.method === 'GET' && id !== null ? made.get(id) : undefined;
        if (maker === undefined || maker === request.socket) return answer;
        return { ...answer, ...(isPet(request) ? refusal(answer, 404, 'not_found') : { body: '[]' }) };
      };
    },
  },
  {
    name: 'a 201 has no Location',
    breaks: ['3.3 a 201 carries Location'],
    begin: answering(({ headers, status }) =>
      status === 201 ? { headers: without(headers, 'location') } : undefined,
    ),
  },
  {
    name: 'another media type is 400',
    breaks: ['3.3 a body of another media type'],
    begin: answering((answer, request) =>
      isPost(request) && answer.status === 415 ? refusal(answer, 400, 'invalid_request') : undefined,
    ),
  },
  {
    name: 'a body that is too large is cut',
    breaks: ['3.3 a body of another media type'],
    begin: taking((request) =>
      isPost(request) && request.body.length > 65_536 ? { body: request.body.subarray(0, 1_000) } : undefined,
    ),
  },
  {
    name: 'Idempotency-Key has no effect',
    breaks: [
      '3.4 the same Idempotency-Key with the same body',
      '3.4 a repeated answer',
      '3.4 an Idempotency-Key of more',
      '3.4 the same Idempotency-Key with another body',
    ],
    begin: taking((request) =>
      isPost(request) ? { headers: without(request.headers, 'idempotency-key') } : undefined,
    ),
  },
  {
    name: 'a repeated answer does not say so',
    breaks: ['3.4 a repeated answer'],
    begin: answering(({ headers }) => ({ headers: without(headers, 'idempotent-replay') })),
  },
  {
    name: 'an Idempotency-Key is compared without the body',
    breaks: ['3.4 the same Idempotency-Key with another body'],
    begin: () => {
      const first = new Map<string, ProxiedResponse>();
      return async (request, forward) => {
        const answer = await forward(request);
        const key = request.headers['idempotency-key'] ?? '';
        if (isPost(request) && answer.status === 201 && !first.has(key)) first.set(key, answer);
        if (answer.status !== 422) return answer;
        const { status = 201, body = '', headers = {} } = first.get(key) ?? {};
        return {
          status,
          body,
          headers: { ...answer.headers, location: headers['location'] ?? '', 'idempotent-replay': 'true' },
        };
      };
    },
  },
  {
    name: 'a refusal is stored with its Idempotency-Key',
    breaks: ['3.4 a 4xx is not stored'],
    begin: () => {
      const refused = new Set<string>();
      return async (request, forward) => {
        const key = request.headers['idempotency-key'] ?? '';
        const answer = await forward(refused.has(key) ? { ...request, body: Buffer.from('{}') } : request);
        if (isPost(request) && key !== '' && answer.status === 400) refused.add(key);
        return answer;
      };
    },
  },
  {
    name: 'a 404 of getPet does not say that it is deprecated',
    breaks: ['3.5 every answer of getPet'],
    begin: answering(({ headers, status }) =>
      status === 404 ? { headers: without(headers, 'deprecation', 'sunset') } : undefined,
    ),
  },
  {
    name: 'getPet and the list differ',
    breaks: ['3.5 getPet returns'],
    begin: answering(({ body, status }, request) =>
      isList(request) && status === 200 && !query(request).has('id')
        ? { body: body.replaceAll('"name":"Check', '"name":"check') }
        : undefined,
    ),
  },
  {
    name: 'a GET has no ETag',
    breaks: ['3.6 answers to GET'],
    begin: answering(({ headers }, { method, path }) =>
      method === 'GET' && path.startsWith('/v1/store') ? { headers: without(headers, 'etag') } : undefined,
    ),
  },
  {
    name: 'anyone may cache a GET',
    breaks: ['3.6 answers to GET'],
    begin: answering((answer, { method, path }) =>
      method === 'GET' && path.startsWith('/v1/store') && answer.status === 200
        ? withHeader(answer, 'cache-control', 'public, max-age=60')
        : undefined,
    ),
  },
  {
    name: 'If-None-Match has no effect',
    breaks: ['3.6 If-None-Match'],
    begin: taking(({ headers }) => ({ headers: without(headers, 'if-none-match') })),
  },
  {
    name: 'If-Match has no effect',
    breaks: ['3.6 If-Match', '3.9 what is wrong'],
    begin: taking(({ headers }) => ({ headers: without(headers, 'if-match') })),
  },
  {
    name: 'HEAD is refused',
    breaks: ['3.7 HEAD'],
    begin: answering((answer, { method }) =>
      method === 'HEAD'
        ? {
            status: 405,
            headers: { ...without(answer.headers, 'etag', 'link'), allow: 'GET, POST, OPTIONS' },
          }
        : undefined,
    ),
  },
  {
    name: 'OPTIONS needs a key',
    breaks: ['3.7 OPTIONS is 204'],
    begin: answering((answer, { method, headers }) =>
      method === 'OPTIONS' && headers['authorization'] === undefined
        ? {
            ...refusal(answer, 401, 'unauthorized'),
            headers: {
              ...answer.headers,
              'content-type': 'application/json; charset=utf-8',
              'www-authenticate': 'Bearer',
            },
          }
        : undefined,
    ),
  },
  {
    name: 'OPTIONS is metered',
    breaks: ['3.7 OPTIONS is not metered'],
    begin: () => async (request, forward) => {
      if (request.method === 'OPTIONS' && request.headers['authorization'] !== undefined)
        await forward(oneMore(request));
      return forward(request);
    },
  },
  {
    name: 'browsers may not read Link',
    breaks: ['3.7 browsers may read'],
    begin: answering((answer) => {
      const exposed = answer.headers['access-control-expose-headers'];
      return exposed === undefined
        ? undefined
        : withHeader(answer, 'access-control-expose-headers', exposed.replace(' Link,', ''));
    }),
  },
  {
    name: 'X-Request-Id is a new one each time',
    breaks: ['3.8 X-Request-Id comes back'],
    begin: taking(({ headers }) => ({ headers: without(headers, 'x-request-id') })),
  },
  {
    name: 'a 304 has no X-Request-Id',
    breaks: ['3.8 every answer'],
    begin: answering(({ headers, status }) =>
      status === 304 ? { headers: without(headers, 'x-request-id') } : undefined,
    ),
  },
  {
    name: 'null does not remove a field',
    breaks: ['3.9 a patch changes'],
    begin: taking(({ method, path, body }) =>
      method === 'PATCH' && path.startsWith('/v1/pets/') && body.includes('"status":null')
        ? { body: Buffer.from('{}') }
        : undefined,
    ),
  },
  {
    name: 'a 415 of a patch does not say which types there are',
    breaks: ['3.9 a patch that removes'],
    begin: answering(({ headers }) => ({ headers: without(headers, 'accept-patch') })),
  },
  {
    name: 'a body is read before If-Match',
    breaks: ['3.9 what is wrong'],
    begin: () => async (request, forward) => {
      const answer = await forward(request);
      return request.method === 'PATCH' && request.body.includes('"name":null') && answer.status === 412
        ? { ...answer, ...refusal(answer, 400, 'invalid_request') }
        : answer;
    },
  },
  {
    name: 'a deleted animal stays in the list',
    breaks: ['3.10 a deleted animal'],
    begin: () => {
      const deleted = new Map<string, string>();
      return async (request, forward) => {
        const id = request.path.slice('/v1/pets/'.length);
        if (request.method === 'DELETE' && isPet(request)) {
          const { body, status } = await forward({ ...oneMore(request), path: `/v1/pets?id=${id}` });
          if (status === 200) deleted.set(id, body);
        }
        const answer = await forward(request);
        const found = deleted.get(query(request).get('id') ?? '');
        return isList(request) && answer.body === '[]' && found !== undefined
          ? { ...answer, body: found }
          : answer;
      };
    },
  },
  {
    name: 'a complete order can be cancelled',
    breaks: ['3.12 an order is complete or cancelled'],
    begin: answering((answer, { method, path }) =>
      method === 'DELETE' && path.startsWith('/v1/store/orders/') && answer.status === 409
        ? { status: 204, headers: without(answer.headers, 'content-type'), body: '' }
        : undefined,
    ),
  },
  {
    name: 'the account shows the windows of the holder',
    breaks: ['3.13 the account'],
    begin: answering(({ body }, { path }) =>
      path === '/v1/account'
        ? { body: body.replace(/("day":\{"limit":)\d+,"remaining":\d+/, '$15000,"remaining":4999') }
        : undefined,
    ),
  },
  {
    name: 'a page of the usage may be too large',
    breaks: ['3.13 the usage adds up'],
    begin: taking(({ path }) => ({ path: path.replace('limit=1001', 'limit=1000') })),
  },
  {
    name: 'the answer with a new key may be stored',
    breaks: ['3.14 a new key'],
    begin: answering((answer, { path }) =>
      path === '/v1/account/keys' && answer.status === 201
        ? withHeader(answer, 'cache-control', 'private, no-cache')
        : undefined,
    ),
  },
  {
    name: 'an error has a field too many',
    breaks: ['4.1 every error'],
    begin: answering(({ body, status }) =>
      status === 409 ? { body: body.replace(/\}$/, ',"stack":"at handle"}') } : undefined,
    ),
  },
  {
    name: 'an error does not say that it is UTF-8',
    breaks: ['4.1 every body'],
    begin: answering((answer) =>
      answer.status === 404 ? withHeader(answer, 'content-type', 'application/json') : undefined,
    ),
  },
  {
    name: 'a code that the set lacks',
    breaks: ['4.2 every code'],
    begin: answering(({ body, status }) =>
      status === 404 ? { body: body.replace('"code":"not_found"', '"code":"missing"') } : undefined,
    ),
  },
  {
    name: 'a 401 has no WWW-Authenticate',
    breaks: ['4.2 401 carries'],
    begin: answering(({ headers }) => ({ headers: without(headers, 'www-authenticate') })),
  },
  {
    name: 'a 405 has no Allow',
    breaks: ['4.2 405 carries'],
    begin: answering(({ headers, status }) =>
      status === 405 ? { headers: without(headers, 'allow') } : undefined,
    ),
  },
  {
    name: 'another method is 404',
    breaks: ['4.2 a method that a path does not take'],
    begin: answering((answer) => (answer.status === 405 ? refusal(answer, 404, 'not_found') : undefined)),
  },
  {
    name: 'a key of the other environment is accepted',
    breaks: ['5.1 a key of the other environment'],
    begin: () => {
      let own = '';
      return (request, forward) => {
        const { authorization = '' } = request.headers;
        own ||= authorization;
        return forward(
          authorization.includes('petstore_test_')
            ? { ...request, headers: { ...request.headers, authorization: own } }
            : request,
        );
      };
    },
  },
  {
    name: 'an error repeats the key',
    breaks: ['5.3 no answer shows'],
    begin: answering(({ body, status }, { headers }) =>
      status === 404
        ? {
            body: body.replace(/"message":"[^"]*/, `$& ${headers['authorization']?.slice('Bearer '.length)}`),
          }
        : undefined,
    ),
  },
  {
    name: 'a key that was revoked goes on working',
    breaks: ['5.4 a new key'],
    begin: () => {
      let own = '';
      const known = new Set<string>();
      return async (request, forward) => {
        const answer = await forward(request);
        const { authorization = '' } = request.headers;
        own ||= authorization;
        if (answer.status === 200 && authorization !== '') known.add(authorization);
        return answer.status === 401 && known.has(authorization)
          ? forward({ ...request, headers: { ...request.headers, authorization: own } })
          : answer;
      };
    },
  },
  {
    name: 'the plan has other limits than it says',
    breaks: ['6.1 the limits are'],
    begin: answering(({ body }, { path }) =>
      path === '/v1/account' ? { body: body.replace('"perMinute":', '"perMinute":1') } : undefined,
    ),
  },
  {
    name: 'a minute resets twice',
    breaks: ['6.2 a window ends'],
    begin: () => {
      let count = 0;
      let before = Number.POSITIVE_INFINITY;
      return async (request, forward) => {
        const answer = await forward(request);
        if (!isPlan(request) || answer.status === 401) return answer;
        const change = showMinute(answer, (remaining) => {
          // With the next minute, it is over.
          count = remaining > before ? Number.NEGATIVE_INFINITY : count + 1;
          before = remaining;
          return count < 20 ? remaining : remaining + 15;
        });
        return { ...answer, ...change };
      };
    },
  },
  {
    name: 'a refused request counts for nothing',
    breaks: ['6.2 every request with a valid key'],
    begin: () => {
      let errors = 0;
      let before = 0;
      return async (request, forward) => {
        const answer = await forward(request);
        if (!isPlan(request) || answer.status === 401) return answer;
        if (answer.status >= 400) errors++;
        const change = showMinute(answer, (remaining) => {
          if (remaining > before) errors = 0;
          before = remaining;
          return remaining + errors;
        });
        return { ...answer, ...change };
      };
    },
  },
  {
    name: 'a request counts twice',
    breaks: ['6.2 a request takes one'],
    begin: () => async (request, forward) => {
      if (isPlan(request) && request.headers['authorization'] !== undefined) await forward(oneMore(request));
      return forward(request);
    },
  },
  {
    name: 'a 204 has no rate headers',
    breaks: ['6.3 every answer below'],
    begin: answering(({ headers, status }) =>
      status === 204 ? { headers: without(headers, 'x-ratelimit-limit') } : undefined,
    ),
  },
  {
    name: 'a refusal has no rate headers',
    breaks: ['6.3 every refusal'],
    begin: answering(({ headers, status }) =>
      status >= 400 ? { headers: without(headers, 'x-ratelimit-remaining') } : undefined,
    ),
  },
  {
    name: 'the headers of the draft are missing',
    breaks: ['6.3 RateLimit-Policy'],
    begin: answering(({ headers }) => ({ headers: without(headers, 'ratelimit', 'ratelimit-policy') })),
  },
  {
    name: 'the headers describe the minute, whatever remains of the day',
    breaks: ['6.3 the three headers'],
    limits: { perMinute: 3_000, perDay: 2_000 },
    begin: answering((answer, request) => {
      const { headers } = answer;
      const [, minute] = /"minute";r=(\d+)/.exec(headers['ratelimit'] ?? '') ?? [];
      if (!isPlan(request) || answer.status === 401 || minute === undefined) return undefined;
      return { headers: { ...headers, 'x-ratelimit-remaining': minute, 'x-ratelimit-limit': '3000' } };
    }),
  },
  {
    name: 'the day ends at another hour',
    breaks: ['6.3 X-RateLimit-Reset'],
    limits: { perMinute: 3_000, perDay: 2_000 },
    begin: answering((answer, request) =>
      isPlan(request) && answer.status !== 401
        ? withHeader(answer, 'x-ratelimit-reset', String(Number(answer.headers['x-ratelimit-reset']) + 3_600))
        : undefined,
    ),
  },
  {
    name: 'the headers of the holder show another limit',
    breaks: ['6.10 the holder has'],
    begin: answering((answer, { path }) =>
      path.startsWith('/v1/account')
        ? withHeader(
            answer,
            'ratelimit-policy',
            (answer.headers['ratelimit-policy'] ?? '').replace('q=5000', 'q=1000'),
          )
        : undefined,
    ),
  },
  {
    name: 'what a holder asks counts for the plan',
    breaks: ['6.10 what a holder asks'],
    begin: () => async (request, forward) => {
      if (request.path === '/v1/account') await forward(oneMore(request));
      return forward(request);
    },
  },
  {
    name: 'the description is of another version',
    breaks: ['9 the published description'],
    begin: answering(({ body }, { path }) =>
      path === '/openapi.json'
        ? {
            body: body
              .replace('"version": "1.0.0"', '"version": "1.1.0"')
              .replace('"version":"1.0.0"', '"version":"1.1.0"'),
          }
        : undefined,
    ),
  },
  {
    name: 'an answer lacks a field',
    breaks: ['9 every answer'],
    begin: answering(({ body }, { path }) =>
      path === '/v1/account' ? { body: body.replace(/,"bans":\[[^\]]*\]/, '') } : undefined,
    ),
  },
  {
    name: 'an event is lost',
    breaks: ['13.2 every change', '13.1 the event of an order'],
    begin: answering(({ body, status }, { path }) =>
      path.startsWith('/v1/events') && status === 200
        ? {
            body: `[${elementsOf(body)
              .filter((event) => !event.includes('"pet.updated"'))
              .join(',')}]`,
          }
        : undefined,
    ),
  },
  {
    name: 'the event of an order comes after that of its animal',
    breaks: ['13.1 the event of an order'],
    begin: answering(({ body, status }, { path }) =>
      path.startsWith('/v1/events') && path.includes('order.') && status === 200
        ? { body: `[${elementsOf(body).toReversed().join(',')}]` }
        : undefined,
    ),
  },
  {
    name: 'the feed may be stored',
    breaks: ['13.2 after=now'],
    begin: answering((answer, { path }) =>
      path.startsWith('/v1/events') && answer.status === 200
        ? withHeader(answer, 'cache-control', 'private, no-cache')
        : undefined,
    ),
  },
  {
    name: 'a secret is rotated as often as one likes',
    breaks: ['13.3 a secret is rotated'],
    begin: () => {
      let rotated: ProxiedResponse | undefined;
      return async (request, forward) => {
        const answer = await forward(request);
        if (!/^\/v1\/webhooks\/\d+\/rotate$/.test(request.path)) return answer;
        rotated ??= answer;
        return { ...answer, status: rotated.status, body: rotated.body };
      };
    },
  },
  {
    name: 'the secret of a webhook is shown again',
    breaks: ['13.3 the secret'],
    begin: answering(({ body, status }, { method, path }) =>
      method === 'GET' && /^\/v1\/webhooks\/\d+$/.test(path) && status === 200
        ? { body: body.replace(/\}$/, `,"secret":"whsec_${'A'.repeat(43)}="}`) }
        : undefined,
    ),
  },
];
