export const DEFAULT_DATABASE_URL = 'sqlite:data/petstore.db';

/** What is wrong with the address of a database; undefined when `openStore` takes it. It never repeats the address. */
export function databaseUrlFault(text: string): string | undefined {
  if (text.startsWith('sqlite::memory:'))
    return 'must name a file: sqlite::memory: would lose everything when the process ends';
  const isTaken = /^sqlite:./.test(text) || /^postgres(?:ql)?:$/.test(URL.parse(text)?.protocol ?? '');
  return isTaken ? undefined : 'must be sqlite:PATH or postgres://…';
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
