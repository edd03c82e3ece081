import { SCOPES } from '../../domain/account.ts';
import { ERROR_CODES } from '../../domain/errors.ts';
import { PLANS } from '../../domain/plan.ts';
import { GET_PET_SUNSET } from '../deprecation.ts';
import { STATUS_OF } from '../errors.ts';
import { LIMIT } from '../parameters.ts';
import { ERRORS } from './errors.ts';

/** What a user of the API has to know besides the operations, in Markdown. */
export function guide(): string {
  return `A catalogue of animals offered for adoption: list them, add new ones, read a single one.

## Authentication

Every operation needs an API key, sent as \`Authorization: Bearer <API_KEY>\`. A key belongs to one environment and is refused by the other. It has scopes: ${SCOPES.map(code).join(' and ')}; each operation names the one it needs.

## Rate limits

Requests are counted per account in two windows: a minute, which starts with its first counted request, and the UTC day.

${table(['Plan', 'Requests per minute', 'Requests per day'], planRows())}

Every response carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` for the window with the fewest requests remaining; \`RateLimit\` and \`RateLimit-Policy\` show both. A request beyond a limit is answered 429: wait the seconds in \`Retry-After\`, then try again, and back off exponentially if it is refused again. A key that keeps sending requests after a 429 is banned for a while. Enterprise limits are negotiated.

## Errors

Every error response has the same body: \`code\`, \`message\` and \`status\`, which repeats the HTTP status. Decide by \`code\`; \`message\` says what to do about it.

${table(['Status', 'Code', 'When'], errorRows())}

## Paging

A list gives at most \`limit\` animals (${LIMIT.default} without it, ${LIMIT.maximum} at most), the newest first. When there are more, the \`Link\` header holds the address of the next page with \`rel="next"\`; follow it until it is absent. Animals that are added meanwhile neither shift nor repeat the others.

## Conditional requests

Answers to GET carry an \`ETag\`. Send it back in \`If-None-Match\`: if the content is the same, the answer is 304 without a body. HEAD answers as GET, without a body.

## Idempotency

Send an \`Idempotency-Key\` with a request that adds an animal, and the same request can be sent again within 24 hours without adding it twice: the first answer is repeated with \`Idempotent-Replay: true\`.

## Deprecation

\`GET /pets/{petId}\` is deprecated and will be removed on ${GET_PET_SUNSET}. Its responses say so in \`Deprecation\`, \`Sunset\` and \`Link\`; from that day on it answers 410.`;
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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** 1,000 as the specification writes it. By hand, because loading a locale takes longer than all the rest here. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
