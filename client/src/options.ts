import { type Deprecation, warn } from './deprecation.ts';
import { ENVIRONMENTS } from './operations.ts';

export interface PetStoreOptions {
  /** `petstore_live_…` for production, `petstore_test_…` for staging. It is sent to the base address and nowhere else. */
  readonly apiKey: string;
  /** The environment to call. The default is `production`. Not together with `baseUrl`. */
  readonly environment?: keyof typeof ENVIRONMENTS | undefined;
  /** The base address of another installation, ending in `/v1`. */
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
  /** Called once for each deprecated operation. The default is `console.warn`. If it throws, the call throws the same. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /** Used instead of the global `fetch`, for example for a proxy. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly maxTries: number;
  readonly maxWait: number;
  readonly timeout: number;
  readonly pace: boolean;
  readonly onDeprecation: (deprecation: Deprecation) => void;
  readonly fetch: typeof globalThis.fetch;
}

/** Milliseconds: the longest wait of `setTimeout`, 24 days. */
const TIMER_MAX = 2 ** 31 - 1;

/** @throws TypeError or RangeError that names the option and never contains the key. */
export function readOptions(options: PetStoreOptions): Settings {
  const { apiKey, pace = false, onDeprecation = warn } = options;
  if (typeof apiKey !== 'string' || !/^[!-~]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be the API key: visible ASCII characters, without "Bearer".');
  }
  return {
    apiKey,
    baseUrl: readBaseUrl(options),
    maxTries: integer('maxTries', options.maxTries ?? 6, 1),
    maxWait: integer('maxWait', options.maxWait ?? 120_000, 0),
    timeout: integer('timeout', options.timeout ?? 30_000, 1),
    pace,
    onDeprecation,
    // Looked up at each call, so that a later replacement is used. Browsers need `globalThis` as its `this`.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
}

function readBaseUrl({ baseUrl, environment }: PetStoreOptions): string {
  if (baseUrl === undefined) {
    const url = ENVIRONMENTS[environment ?? 'production'];
    if (url === undefined)
      throw new RangeError(`environment must be ${Object.keys(ENVIRONMENTS).join(' or ')}.`);
    return url;
  }
  if (environment !== undefined) throw new TypeError('Give either environment or baseUrl, not both.');
  const fault = new TypeError(
    'baseUrl must be an http or https address that ends in /v1, without user name and query.',
  );
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw fault;
  }
  const path = url.pathname.replace(/\/$/, '');
  const isBase =
    /^https?:$/.test(url.protocol) && path.endsWith('/v1') && url.href === `${url.origin}${url.pathname}`;
  if (!isBase) throw fault;
  return url.origin + path;
}

function integer(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least && value <= TIMER_MAX) return value;
  throw new RangeError(`${name} must be an integer from ${least} to ${TIMER_MAX}.`);
}
