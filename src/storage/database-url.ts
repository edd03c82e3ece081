export const DEFAULT_DATABASE_URL = 'sqlite:data/petstore.db';

/** Whether a text is an address that `openStore` takes: `sqlite:PATH` or `postgres://…`. */
export function isDatabaseUrl(text: string): boolean {
  return /^sqlite:./.test(text) || /^postgres(?:ql)?:$/.test(URL.parse(text)?.protocol ?? '');
}

/** How connections are used. Times in milliseconds. */
export interface PoolLimits {
  readonly connections: number;
  readonly connectTimeout: number;
  /** How long the server works on one statement; the answer is waited for half as long again. */
  readonly statementTimeout: number;
}
