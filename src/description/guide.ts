import { readFileSync } from 'node:fs';
import { OPERATIONS } from '../resources/operations.ts';
import { sunsetDate } from '../http/operation.ts';
import { LIMIT } from '../http/parameters.ts';
import { getPet, MOST_IDS } from '../resources/pets/operations.ts';
import { SCOPE_USES, SCOPES } from '../domain/scope.ts';
import { type Environment, PREFIXES } from '../domain/api-key.ts';
import { ERROR_CODES, ERRORS } from '../domain/errors.ts';
import { MOST_KEYS_A_DAY, MOST_LIVE_KEYS } from '../resources/keys/rules.ts';
import { HOLDER_LIMITS, PLANS } from '../domain/plan.ts';
import { errorExample } from './errors.ts';
import { code, fence, table } from './markdown.ts';
import { petStatesTable, petStatesText } from './pet-states.ts';

/** The guide for users of the API, in Markdown. Each heading is a page of the reference. */
const TEXT = readFileSync(new URL('guide.md', import.meta.url), 'utf8').trimEnd();

/**
 * The guide for the running environment, whose base address is `base`, when the addresses of `environments` are known. Each
 * `{{name}}` of the text gets its value. A paragraph that begins with `{{one}}` appears if one environment is known, and one
 * with `{{both}}` if both are.
 */
export function guide(base: string, environments: readonly Environment[]): string {
  const values: Readonly<Record<string, string | number>> = {
    base,
    site: new URL('../', `${base}/`).href,
    one: '',
    both: '',
    prefix: PREFIXES[environments[0] ?? 'production'],
    productionPrefix: PREFIXES.production,
    stagingPrefix: PREFIXES.staging,
    scopes: table(
      ['Scope', 'With it, a key may'],
      SCOPES.map((scope) => [code(scope), SCOPE_USES[scope]]),
    ),
    plans: table(['Plan', 'Requests per minute', 'Requests per day'], planRows()),
    rateHeaders: table(
      ['Header', 'Meaning'],
      [
        [code('X-RateLimit-Limit'), 'The limit that applies to the caller.'],
        [code('X-RateLimit-Remaining'), 'Requests remaining in the current window.'],
        [code('X-RateLimit-Reset'), 'Unix timestamp, in seconds, at which the limit resets.'],
      ],
    ),
    errorExample: fence(
      'json',
      JSON.stringify(errorExample('not_found', getPet.errors.not_found ?? ''), null, 2),
    ),
    errors: table(
      ['Status', 'Code', 'When'],
      ERROR_CODES.map((error) => [`${ERRORS[error].status}`, code(error), ERRORS[error].when]),
    ),
    defaultLimit: LIMIT.default,
    maximumLimit: LIMIT.maximum,
    deprecated: deprecations(),
    mostIds: MOST_IDS,
    mostKeys: MOST_LIVE_KEYS,
    keysADay: MOST_KEYS_A_DAY,
    holderPerMinute: HOLDER_LIMITS.perMinute,
    holderPerDay: grouped(HOLDER_LIMITS.perDay),
    statesText: petStatesText(),
    statesTable: petStatesTable(),
  };
  const absent = environments.length === 1 ? '{{both}}' : '{{one}}';
  const paragraphs = TEXT.split('\n\n').filter((paragraph) => !paragraph.startsWith(absent));
  return paragraphs.join('\n\n').replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`guide.md names ${name}, which has no value.`);
    return String(value);
  });
}

function deprecations(): string {
  return OPERATIONS.map(({ method, path, deprecated }) =>
    deprecated === undefined
      ? ''
      : ` ${code(`${method} ${path}`)} will be removed on ${sunsetDate(deprecated)}; use ${code(`GET ${deprecated.successor}`)} instead.`,
  ).join('');
}

function planRows(): string[][] {
  return Object.entries(PLANS).map(([plan, limits]) => {
    const [perMinute, perDay] =
      limits === 'custom' ? [limits, limits] : [grouped(limits.perMinute), grouped(limits.perDay)];
    return [plan.charAt(0).toUpperCase() + plan.slice(1), perMinute, perDay];
  });
}

/** 1000 as `1,000`. Not `toLocaleString`, because loading a locale takes longer than everything else here. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A link to a page of the guide, in Markdown. */
export function guideLink(heading: string, base: string): string {
  return `[${heading}](${new URL('../reference', `${base}/`).href}#${heading.toLowerCase().replaceAll(' ', '-')})`;
}
