import { editsBetween } from '../domain/nearest.ts';
import { parseServerUrl, readHost, readPort, type ServerUrl, UrlError, findUrlIssue } from './server-url.ts';

export const DEFAULT_DATABASE_URL = 'sqlite:data/petstore.db';

/** What `DATABASE_URL` stands for. */
type DatabaseAddress = SqliteAddress | PostgresAddress;

interface SqliteAddress {
  readonly kind: 'sqlite';
  readonly path: string;
}

/** What is undefined is up to the driver, which reads variables such as PGHOST. */
export interface PostgresAddress extends Pick<ServerUrl, 'host' | 'port' | 'user' | 'password'> {
  readonly kind: 'postgres';
  readonly database: string | undefined;
  readonly tls: Tls | false | undefined;
  /** What else the driver takes, by its names. */
  readonly settings: Readonly<Partial<Record<Setting, string>>>;
}

/** How a connection is encrypted. Certificates and keys are in files. */
export interface Tls {
  /** What must be right: the name in the certificate and the authority that signed it, or the authority alone. */
  readonly verified: 'name' | 'authority' | 'nothing';
  readonly files: Readonly<Partial<Record<TlsFile, string>>>;
  /** Whether TLS begins at once. Otherwise, the server is asked first. */
  readonly isDirect: boolean;
}

const SETTINGS = ['application_name', 'fallback_application_name', 'options'] as const;

type Setting = (typeof SETTINGS)[number];

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;

export type TlsFile = (typeof TLS_FILES)[number];

/** Parameters that are read. Others have no effect: addresses hold those of other programs. */
export const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'ssl',
  'sslmode',
  'sslnegotiation',
  'uselibpqcompat',
  ...TLS_FILES,
  ...SETTINGS,
];

/** The letters of a shorter name may be those of a parameter of another program. */
const LONG_NAME = 6;

/** What is verified for each value of `sslmode`; false: nothing is encrypted. `uselibpqcompat=true` asks for that of libpq. */
const MODES: Readonly<Record<string, Tls['verified'] | false>> = {
  disable: false,
  allow: 'name',
  prefer: 'name',
  require: 'name',
  'verify-ca': 'name',
  'verify-full': 'name',
  'no-verify': 'nothing',
};

/** What is encrypted, and verified, for each value of `ssl`. */
const SWITCHES: Readonly<Record<string, Tls['verified'] | false>> = {
  true: 'name',
  1: 'name',
  'no-verify': 'nothing',
  false: false,
  0: false,
};

/** @throws UrlError that never repeats the address. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  if (text.startsWith('sqlite:')) return parseSqliteUrl(text.slice('sqlite:'.length));
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw new UrlError('must be sqlite:PATH or postgres://…');
  return parsePostgresUrl(text);
}

/** What is wrong with the address of a database; undefined when `openStore` takes it. It never repeats the address. */
export function findDatabaseUrlIssue(text: string): string | undefined {
  return findUrlIssue(parseDatabaseUrl, text);
}

function parseSqliteUrl(path: string): SqliteAddress {
  if (path.startsWith(':memory:'))
    throw new UrlError('must name a file: sqlite::memory: would lose everything when the process ends');
  // Messages name the path.
  if (path === '' || /^(?:\w+:)?\/\/.*@/s.test(path))
    throw new UrlError('must be sqlite:PATH or postgres://…');
  return { kind: 'sqlite', path };
}

/** @throws UrlError that never repeats the address. */
export function parsePostgresUrl(text: string): PostgresAddress {
  const { parameters, path, ...server } = parseServerUrl(text);
  for (const name of parameters.keys()) refuseMistyped(name);
  const port = parameters.get('port');
  const host = parameters.get('host');
  return {
    kind: 'postgres',
    // Parameters win, as they do for psql.
    host: host ? readHost(host) : server.host,
    port: port ? readPort(port) : server.port,
    user: parameters.get('user') || server.user,
    password: parameters.get('password') || server.password,
    database: parameters.get('dbname') || path,
    tls: readTls(parameters),
    settings: Object.fromEntries(
      SETTINGS.flatMap((name) => {
        const value = parameters.get(name);
        return value ? [[name, value]] : [];
      }),
    ),
  };
}

/** Without this, `slmode=require` would encrypt nothing. */
function refuseMistyped(name: string): void {
  if (PARAMETERS.includes(name)) return;
  const letters = (word: string) => word.toLowerCase().replaceAll(/[_-]/g, '');
  const near = PARAMETERS.find(
    (each) => each.length >= LONG_NAME && editsBetween(letters(name), letters(each)) <= 1,
  );
  if (near !== undefined) throw new UrlError(`has a parameter that is almost ${near}: write ${near}`);
}

function readTls(parameters: ServerUrl['parameters']): Tls | false | undefined {
  const files: Partial<Record<TlsFile, string>> = {};
  for (const name of TLS_FILES) {
    const file = parameters.get(name);
    if (file) files[name] = file;
  }
  const negotiation = parameters.get('sslnegotiation');
  const isDirect =
    negotiation !== undefined && choose('sslnegotiation', negotiation, { postgres: false, direct: true });
  const verified = readVerified(parameters, files) ?? (isDirect ? 'name' : undefined);
  if (verified === false && isDirect)
    throw new UrlError('must have an sslmode that encrypts with sslnegotiation=direct');
  return verified === undefined || verified === false ? verified : { verified, files, isDirect };
}

/** False: nothing is encrypted. Undefined: `PGSSLMODE` decides. */
function readVerified(
  parameters: ServerUrl['parameters'],
  files: Tls['files'],
): Tls['verified'] | false | undefined {
  const mode = parameters.get('sslmode');
  if (mode) {
    const isCompatible = parameters.get('uselibpqcompat') === 'true';
    return choose('sslmode', mode, isCompatible ? compatibleModes(mode, files) : MODES);
  }
  if (Object.keys(files).length > 0) return 'name';
  const ssl = parameters.get('ssl');
  return ssl ? choose('ssl', ssl, SWITCHES) : undefined;
}

/** Those of libpq, which `psql` uses. */
function compatibleModes(mode: string, { sslrootcert }: Tls['files']): typeof MODES {
  if (mode === 'verify-ca' && sslrootcert === undefined)
    throw new UrlError('must have sslrootcert with sslmode=verify-ca');
  const require = sslrootcert === undefined ? 'nothing' : 'authority';
  return { ...MODES, prefer: 'nothing', require, 'verify-ca': 'authority' };
}

function choose<T>(name: string, value: string, choices: Readonly<Record<string, T>>): T {
  const choice = Object.hasOwn(choices, value) ? choices[value] : undefined;
  if (choice !== undefined) return choice;
  throw new UrlError(`must have one of ${Object.keys(choices).join(', ')} for ${name}`);
}

/** The address as messages name it: without user, password and parameters. */
export function describeDatabase(address: DatabaseAddress): string {
  if (address.kind === 'sqlite') return `sqlite:${address.path}`;
  const { host = '', port, database } = address;
  const server = host.includes(':') ? `[${host}]` : encodeURIComponent(host);
  return `postgres://${server}${port === undefined ? '' : `:${port}`}${database === undefined ? '' : `/${database}`}`;
}

/** How connections are used. Times in milliseconds. */
export interface PoolLimits {
  readonly connections: number;
  readonly connectTimeout: number;
  /** How long the server works on one statement; the answer is waited for half as long again. */
  readonly statementTimeout: number;
  /** How long a statement waits for a lock. By default a second. */
  readonly lockTimeout?: number;
}
