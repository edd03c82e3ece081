import { parseServerUrl, type ServerUrl, UrlError } from './server-url.ts';

const PORT = 6379;

/** What `REDIS_URL` stands for. */
export interface RedisAddress extends Pick<ServerUrl, 'user' | 'password'> {
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly isEncrypted: boolean;
}

/** @throws UrlError that never repeats the address. */
export function parseRedisUrl(text: string): RedisAddress {
  if (!/^rediss?:\/\//.test(text)) throw new UrlError('must be redis://… or rediss://…');
  const { user, password, host = 'localhost', port = PORT, path = '0' } = parseServerUrl(text);
  if (host.startsWith('/') || !/^\d{1,9}$/.test(path))
    throw new UrlError('must be like redis://HOST:6379/0, with the number of a database at its end');
  return { user, password, host, port, database: Number(path), isEncrypted: text.startsWith('rediss:') };
}
