import { type Deprecation, warn } from './deprecation.ts';
import { ENVIRONMENTS } from './schema.ts';

export interface PetStoreOptions {
  /** `petstore_live_…` for production, `petstore_test_…` for staging. It is sent to the base address and nowhere else. */
  readonly apiKey: string;
  /** Which of the two environments is called; `production` unless it or `baseUrl` is set. */
  readonly environment?: keyof typeof ENVIRONMENTS | undefined;
  /** The base address of another installation, ending in `/v1`. */
  readonly baseUrl?: string | URL | undefined;
  /** How often a request is sent at most, the first time included; 6 unless set. */
  readonly maxTries?: number | undefined;
  /**
   * Milliseconds after which a call begins no further try; 120,000 unless set, at most 2^31 − 1. When the service asks
   * for a longer wait, the call fails at once with a RateLimitError that says when to come back.
   */
  readonly maxWait?: number | undefined;
  /** Milliseconds that each try may take until the whole answer is there; 30,000 unless set, at most 2^31 − 1. */
  readonly timeout?: number | undefined;
  /** Whether calls wait for their turn rather than be refused: see the README. Off unless set. */
  readonly pace?: boolean | undefined;
  /** Called once for each operation that the service calls deprecated; `console.warn` unless set. What it throws, the call throws. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /** Used instead of the global `fetch`: for a proxy, for instance. */
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

/** The longest that `setTimeout` can wait: 24 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** @throws TypeError or RangeError, naming the option; never with the key in it. */
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
    // Looked up at each call, so that one that is installed later is used; browsers insist on its `this`.
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
  if (Number.isInteger(value) && value >= least && value <= LONGEST_TIMER) return value;
  throw new RangeError(`${name} must be an integer from ${least} to ${LONGEST_TIMER}.`);
}
