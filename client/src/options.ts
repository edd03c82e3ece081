import { type Deprecation, warnOnce } from './deprecation.ts';
import { checkOptions } from './checks.ts';
import type { Logger } from './logger.ts';
import { ENVIRONMENTS } from './operations.ts';
import { TIMER_MAX } from './runtime.ts';

export interface PetStoreOptions {
  /**
   * `petstore_live_…` for production, `petstore_test_…` for staging. It is sent to the base address and nowhere else. The
   * default is the environment variable `PETSTORE_API_KEY`.
   */
  readonly apiKey?: string | undefined;
  /** The environment to call. Not together with `baseUrl`. */
  readonly environment?: keyof typeof ENVIRONMENTS | undefined;
  /**
   * The base address of another installation, ending in `/v1`. Without it and `environment`, the client calls the address
   * in the environment variable `PETSTORE_URL`, or else production.
   */
  readonly baseUrl?: string | URL | undefined;
  /** How often a request is sent at most, including the first time. The default is 6. */
  readonly maxTries?: number | undefined;
  /**
   * Milliseconds after which a call begins no new try. The default is 120,000, the most is 2^31 − 1. If the service asks
   * for a longer wait, the call fails at once with a RateLimitError that says when to retry.
   */
  readonly maxWait?: number | undefined;
  /** Milliseconds that each try may take, with the whole answer. The default is 30,000, the most is 2^31 − 1. */
  readonly timeout?: number | undefined;
  /** Whether calls wait for quota instead of being refused: see the README. Off by default. */
  readonly pace?: boolean | undefined;
  /** Called with each answer and each retry, for example `console`. It never gets the key. */
  readonly logger?: Logger | undefined;
  /** Called once for each deprecated operation. The default warns. If it throws, the call throws the same. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /** Used instead of the global `fetch`, for example for a proxy. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const NAMES: Readonly<Record<keyof PetStoreOptions, true>> = {
  apiKey: true,
  environment: true,
  baseUrl: true,
  maxTries: true,
  maxWait: true,
  timeout: true,
  pace: true,
  logger: true,
  onDeprecation: true,
  fetch: true,
};

/** The options, checked and complete. */
export interface Settings {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly maxTries: number;
  readonly maxWait: number;
  readonly timeout: number;
  readonly pace: boolean;
  readonly logger: Logger | undefined;
  readonly onDeprecation: (deprecation: Deprecation) => void;
  readonly fetch: typeof globalThis.fetch;
}

/** @throws TypeError or RangeError that names the option and never contains the key. */
export function readOptions(options: PetStoreOptions): Settings {
  checkOptions(options, NAMES);
  const { pace = false, logger, onDeprecation, fetch } = options;
  if (typeof pace !== 'boolean') throw new TypeError('pace must be true or false.');
  if (logger !== undefined && (typeof logger?.debug !== 'function' || typeof logger.warn !== 'function'))
    throw new TypeError('logger must have the methods debug and warn, as console has.');
  for (const [name, value] of Object.entries({ onDeprecation, fetch })) {
    if (value !== undefined && typeof value !== 'function')
      throw new TypeError(`${name} must be a function.`);
  }
  return {
    apiKey: readApiKey(options),
    baseUrl: readBaseUrl(options),
    maxTries: checkInteger('maxTries', options.maxTries ?? 6, 1),
    maxWait: checkInteger('maxWait', options.maxWait ?? 120_000, 0),
    timeout: checkInteger('timeout', options.timeout ?? 30_000, 1),
    pace,
    logger,
    onDeprecation: onDeprecation ?? ((deprecation) => warnOnce(deprecation, logger)),
    // Looked up at each call, so that a later replacement is used. Browsers need `globalThis` as its `this`.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
}

function readApiKey(options: PetStoreOptions): string {
  const apiKey = options.apiKey ?? variable('PETSTORE_API_KEY');
  if (apiKey === undefined) {
    throw new TypeError(
      'apiKey is missing: give new PetStore({ apiKey }), or set the environment variable PETSTORE_API_KEY.',
    );
  }
  if (typeof apiKey === 'string' && /^[!-~]+$/.test(apiKey)) return apiKey;
  const name = options.apiKey === undefined ? 'PETSTORE_API_KEY' : 'apiKey';
  throw new TypeError(`${name} must be the API key: visible ASCII characters, without "Bearer".`);
}

function readBaseUrl({ baseUrl, environment }: PetStoreOptions): string {
  if (baseUrl !== undefined && environment !== undefined)
    throw new TypeError('Give either environment or baseUrl, not both.');
  if (baseUrl !== undefined) return checkBaseUrl('baseUrl', baseUrl);
  const address = environment === undefined ? variable('PETSTORE_URL') : undefined;
  if (address !== undefined) return checkBaseUrl('PETSTORE_URL', address);
  const url = ENVIRONMENTS[environment ?? 'production'];
  if (url !== undefined) return url;
  throw new RangeError(`environment must be ${Object.keys(ENVIRONMENTS).join(' or ')}.`);
}

function checkBaseUrl(name: string, value: string | URL): string {
  const error = new TypeError(
    `${name} must be an http or https address that ends in /v1, without user name and query.`,
  );
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw error;
  }
  const path = url.pathname.replace(/\/$/, '');
  const isBase =
    /^https?:$/.test(url.protocol) && path.endsWith('/v1') && url.href === `${url.origin}${url.pathname}`;
  if (!isBase) throw error;
  return url.origin + path;
}

/** An environment variable that is not empty. Browsers have none. */
function variable(name: string): string | undefined {
  const { process } = globalThis as {
    process?: { env?: Readonly<Record<string, string | undefined>> };
  };
  return process?.env?.[name] || undefined;
}

/** @throws RangeError unless the value is an integer that a timer can take. */
export function checkInteger(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least && value <= TIMER_MAX) return value;
  throw new RangeError(`${name} must be an integer from ${least} to ${TIMER_MAX}.`);
}
