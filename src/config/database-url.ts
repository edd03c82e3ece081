export const DEFAULT_DATABASE_URL = 'sqlite:data/petstore.db';

/** What is wrong with the address of a database; undefined when `openStore` takes it. It never repeats the address. */
export function databaseUrlFault(text: string): string | undefined {
  if (text.startsWith('sqlite::memory:'))
    return 'must name a file: sqlite::memory: would lose everything when the process ends';
  if (/^sqlite:./.test(text)) return undefined;
  if (!/^postgres(?:ql)?:\/\//.test(text)) return 'must be sqlite:PATH or postgres://…';
  return encodingFault(text);
}

/**
 * Why an address with a password cannot be read in one way only; undefined if it can. It never repeats the address. A
 * character that ends the host would make a part of the password the host, which messages name.
 */
export function encodingFault(text: string): string | undefined {
  const url = URL.parse(text);
  const isWhole = url !== null && !`${url.pathname}${url.search}${url.hash}`.includes('@');
  if (isWhole && !/\s/.test(text) && isDecodable(text)) return undefined;
  return 'cannot be read: in its user, password and parameters, write % as %25, @ as %40, / as %2F, : as %3A, # as %23, ? as %3F and a space as %20';
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The driver takes these for `verify-full`, and prints eight lines that a later version will not. */
const VERIFIED_MODES: ReadonlySet<string> = new Set(['prefer', 'require', 'verify-ca']);

/** The address as the driver gets it. */
export function driverUrl(text: string): string {
  const url = new URL(text);
  const { searchParams } = url;
  const isVerified = VERIFIED_MODES.has(searchParams.get('sslmode') ?? '');
  if (!isVerified || searchParams.get('uselibpqcompat') === 'true') return text;
  searchParams.set('sslmode', 'verify-full');
  return url.href;
}

/** The address without its password. A parameter of it may be a password, too. */
export function withoutSecrets(url: string): string {
  if (url.startsWith('sqlite:')) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** How connections are used. Times in milliseconds. */
export interface PoolLimits {
  readonly connections: number;
  readonly connectTimeout: number;
  /** How long the server works on one statement; the answer is waited for half as long again. */
  readonly statementTimeout: number;
}
