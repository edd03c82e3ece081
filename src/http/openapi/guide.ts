import { SCOPES } from '../../domain/account.ts';
import { PREFIXES } from '../../domain/api-key.ts';
import { ERROR_CODES } from '../../domain/errors.ts';
import { PLANS } from '../../domain/plan.ts';
import { GET_PET_SUNSET } from '../deprecation.ts';
import { STATUS_OF } from '../errors.ts';
import { code, fence, table } from '../markdown.ts';
import { LIMIT } from '../parameters.ts';
import { ERRORS, errorExample } from './errors.ts';

/**
 * What a user of the API has to know besides the operations, in Markdown: each heading is a page of the reference. `base`
 * is the base address that the reference is beside.
 */
export function guide(base: string): string {
  return [
    introduction(base),
    gettingAKey(base),
    authentication(),
    rateLimits(),
    BACKING_OFF,
    errors(),
    paging(),
    IDEMPOTENCY,
    CONDITIONAL_REQUESTS,
    deprecation(),
  ].join('\n\n');
}

function introduction(base: string): string {
  const link = (page: string) => `[${page}](${new URL(`../${page}`, `${base}/`).href})`;
  return `## Introduction

A catalogue of animals offered for adoption: list them, add new ones, read a single one.

All of this is also there for tools, as ${link('openapi.json')} and ${link('openapi.yaml')}, and for programs that read, as ${link('reference.md')} and ${link('llms.txt')}.`;
}

function gettingAKey(base: string): string {
  return `## Getting a key

Ask whoever runs the service for an API key and say which environment it is for: a key of production begins with \`${PREFIXES.production}\`, one of staging with \`${PREFIXES.staging}\`. Try things out on staging; its animals and its quotas are its own.

The key is shown once, when it is issued, and only a hash of it is kept: store it like a password, outside of your code and of anything that a browser loads. When it leaks or is lost, ask for another one. A key can be replaced without an interruption: after a rotation the old one works on for a while, and both count against the same quota.

Paste it into the panel beside this text, and every operation below can be tried out. The code samples are for the environment that this reference belongs to, ${code(base)}, whichever server is selected.`;
}

function authentication(): string {
  return `## Authentication

Every operation needs an API key, sent as a bearer token:

${fence('http', 'Authorization: Bearer <API_KEY>')}

A key belongs to one environment and is refused by the other. It has scopes, ${SCOPES.map(code).join(' and ')}; each operation names the one it needs, and answers 403 ${code('insufficient_scope')} without it. When the key is missing or invalid the answer is 401 ${code('unauthorized')}, and the message says why.`;
}

function rateLimits(): string {
  return `## Rate limits

Requests are counted per account in two windows: a minute, which starts with its first counted request, and the UTC day. Both must have a request left; one that is refused takes nothing from either.

${table(['Plan', 'Requests per minute', 'Requests per day'], planRows())}

Higher limits come from a higher plan; those of Enterprise are negotiated. Every response carries the state of the window with the fewest requests remaining:

${table(
  ['Header', 'Meaning'],
  [
    [code('X-RateLimit-Limit'), 'The limit that applies to the caller.'],
    [code('X-RateLimit-Remaining'), 'Requests remaining in the current window.'],
    [code('X-RateLimit-Reset'), 'Unix timestamp, in seconds, at which the limit resets.'],
  ],
)}

${code('RateLimit')} and ${code('RateLimit-Policy')} show both windows at once. Requests without a valid key are counted per client address, with the numbers of Free.`;
}

const BACKING_OFF = `## Backing off

A request beyond a limit is answered 429 with \`Retry-After\`: wait that many seconds, then try again. Until then send nothing, from no thread and no process that uses the key.

1. On 429 and 503 wait at least \`Retry-After\`.
2. After each failure in a row, also a 5xx or a network fault without \`Retry-After\`, add a wait of your own: random, with a ceiling that grows exponentially up to a bound.
3. Give up after a few tries, and at once when the wait is longer than your caller can wait: a day's limit may need hours.
4. After a 5xx or a network fault, repeat a request that adds an animal only if it was sent with an \`Idempotency-Key\`, and with the same one: it may have been carried out.

The code tells which limit it was: \`rate_limit_exceeded\` for the minute, \`daily_limit_exceeded\` for the day. A key that keeps sending requests after a 429 is banned for a while and answered \`key_banned\`; the messages warn before that, and each ban within a day lasts longer than the one before.

The TypeScript client, \`petstore-client\`, does all of this by itself, within one process.`;

function errors(): string {
  return `## Errors

Every error response has the same body: \`code\`, \`message\` and \`status\`, which repeats the HTTP status. Decide by \`code\`; \`message\` says what to do about it and may change.

${fence('json', JSON.stringify(errorExample('not_found', ERRORS.not_found.message), null, 2))}

These are all the codes there are:

${table(['Status', 'Code', 'When'], errorRows())}

When you report a fault, send the \`X-Request-Id\` of the response.`;
}

function paging(): string {
  return `## Paging

A list gives at most \`limit\` animals (${LIMIT.default} without it, ${LIMIT.maximum} at most), the newest first. When there are more, the \`Link\` header holds the address of the next page with \`rel="next"\`; follow it as it is until it is absent. Animals that are added meanwhile neither shift nor repeat the others.`;
}

const IDEMPOTENCY = `## Idempotency

A request that adds an animal may get lost on the way, or its answer may. Send an \`Idempotency-Key\` with it, for instance a random UUID, and the same request can be sent again within 24 hours without adding the animal twice: the first answer is repeated with \`Idempotent-Replay: true\`. The same body means the same bytes: the same key with others is refused with 422 \`idempotency_key_reused\`.

These keys are shared by the whole account: two programs share them even if each has an API key of its own, so give those of each program a prefix. All other operations can be repeated as they are.`;

const CONDITIONAL_REQUESTS = `## Conditional requests

Answers to GET carry an \`ETag\`. Send it back in \`If-None-Match\`: if the content is the same, the answer is 304 without a body. HEAD answers as GET, without a body.`;

function deprecation(): string {
  return `## Deprecation and versioning

The version is the path segment \`/v1\` of the base address. Within it, what is described here keeps its meaning; fields, headers and error codes may be added, so ignore those that you do not know. An operation marked \`experimental\` or \`beta\` may still change.

An operation that will be removed is deprecated long before: it is marked here, and each of its responses says so in \`Deprecation\`, \`Sunset\` (the date of its removal) and \`Link\` (what to use instead). From that day on it answers 410 \`gone\`. So it is with \`GET /pets/{petId}\`, which will be removed on ${GET_PET_SUNSET}; use \`GET /pets\` with the \`status\` filter.`;
}

function planRows(): string[][] {
  return Object.entries(PLANS).map(([plan, limits]) => {
    const [perMinute, perDay] =
      limits === 'custom' ? [limits, limits] : [grouped(limits.perMinute), grouped(limits.perDay)];
    return [plan.charAt(0).toUpperCase() + plan.slice(1), perMinute, perDay];
  });
}

function errorRows(): string[][] {
  return ERROR_CODES.map((error) => [`${STATUS_OF[error]}`, code(error), ERRORS[error].when]);
}

/** 1,000 as the specification writes it. By hand, because loading a locale takes longer than all the rest here. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
