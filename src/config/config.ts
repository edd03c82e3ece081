// Contract: sections 1 and 7.
import { isIP } from 'node:net';
import { BASE_LENGTH, browserOrigin, normalBase, normalOrigin, origin, portConflicts } from './addresses.ts';
import { ENVIRONMENTS, type Environment } from '../domain/api-key.ts';
import { DEFAULT_DATABASE_URL, parseDatabaseUrl } from './database-url.ts';
import { parseRedisUrl } from './redis-url.ts';
import { maskUrl } from './mask-url.ts';
import { findUrlIssue } from './server-url.ts';
import {
  oneOf,
  optional,
  type Parser,
  type Settings,
  type SettingValues,
  text,
  variable,
  type Variable,
  whole,
} from './variables.ts';
import { mistypedVariables, unknownVariables } from './unknown-variables.ts';

const LOG_FORMATS = ['pretty', 'json'] as const;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The port of the console with `npm start`: see `package.json`. */
const FIRST_CONSOLE_PORT = 8_081;

/** A list of addresses and networks in CIDR notation. */
export type Networks = readonly {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}[];

const anyPort = whole(0, 65_535);
const listenPort: Parser<number> = (value, refuse) => {
  // For a Service called "console", Kubernetes sets CONSOLE_PORT=tcp://10.0.0.1:80. Docker does it for linked containers.
  if (!/^(?:tcp|udp|sctp):/.test(value)) return anyPort(value, refuse);
  refuse(
    'is set by Kubernetes for a Service of this name: set it yourself, or set enableServiceLinks: false in the pod',
  );
  return 0;
};
const list = (value: string) => value.split(',').map((item) => item.trim());

/** The value in its normal form. `normal` gives undefined for a value that is refused. */
const inNormalForm =
  (issue: string, normal: (value: string) => string | undefined): Parser<string> =>
  (value, refuse) => {
    const result = normal(value);
    if (result === undefined) refuse(issue);
    return result ?? value;
  };
const baseUrl = inNormalForm(
  `must be an http or https address of at most ${BASE_LENGTH} characters that ends in /v1, without a user or a query`,
  normalBase,
);
const listenHost = text(
  'must be an IP address or localhost',
  (value) => isIP(value) !== 0 || value === 'localhost',
);
/** The address stays a text here. Who connects parses it, too, with the same parser. */
const serverUrl =
  (parse: (text: string) => unknown): Parser<string> =>
  (value, refuse) => {
    const issue = findUrlIssue(parse, value);
    if (issue !== undefined) refuse(issue);
    return value;
  };
const networks: Parser<Networks> = (value, refuse) =>
  list(value).flatMap((item) => {
    const network = parseNetwork(item);
    if (network !== undefined) return network;
    refuse(`must list IP addresses or networks (10.0.0.0/8); ${JSON.stringify(item)} is none`);
    return [];
  });
const origins: Parser<'*' | readonly string[]> = (value, refuse) => {
  if (value === '*') return value;
  const wrong = list(value).find((item) => normalOrigin(item) === undefined);
  if (wrong !== undefined)
    refuse(
      `must be * alone, or a list of origins as browsers send them (https://app.example), without a path or a *; ${JSON.stringify(maskUrl(wrong))} is none`,
    );
  return list(value).flatMap((item) => normalOrigin(item) ?? []);
};

/** As those of the features. `describeConfig` joins some. */
const SETTINGS = {
  host: ['HOST', variable(listenHost, '127.0.0.1')],
  /** 0 takes any free port. */
  port: ['PORT', variable(listenPort, 8080)],
  environment: ['PETSTORE_ENVIRONMENT', variable(oneOf(ENVIRONMENTS), 'production')],
  productionUrl: ['PRODUCTION_URL', optional(baseUrl)],
  stagingUrl: ['STAGING_URL', optional(baseUrl)],
  databaseUrl: ['DATABASE_URL', variable(serverUrl(parseDatabaseUrl), DEFAULT_DATABASE_URL)],
  connections: ['DATABASE_CONNECTIONS', variable(whole(2, 1_000), 10)],
  connectTimeout: ['DATABASE_CONNECT_TIMEOUT', variable(whole(100, 60_000), 2_000)],
  statementTimeout: ['DATABASE_STATEMENT_TIMEOUT', variable(whole(100, 60_000), 3_000)],
  /** Undefined: the process counts by itself. */
  redisUrl: ['REDIS_URL', optional(serverUrl(parseRedisUrl))],
  metricsPort: ['METRICS_PORT', optional(listenPort)],
  consolePort: ['CONSOLE_PORT', optional(listenPort)],
  consoleHost: ['CONSOLE_HOST', variable(listenHost, '127.0.0.1')],
  ownConsoleUrl: [
    'CONSOLE_URL',
    optional(inNormalForm('must be an origin such as https://console.example', normalOrigin)),
  ],
  trustProxy: ['TRUST_PROXY', variable(networks, [])],
  /** Origins that browsers may call from, or `*`. */
  corsOrigins: ['CORS_ORIGINS', variable(origins, '*')],
  logLevel: ['LOG_LEVEL', variable(oneOf(LOG_LEVELS), 'info')],
  /** Undefined: pretty on a terminal, else json. */
  logFormat: ['LOG_FORMAT', optional(oneOf(LOG_FORMATS))],
  banAfter: ['BAN_AFTER', variable(whole(1, 10_000), 100)],
  banSeconds: ['BAN_SECONDS', variable(whole(1, 86_400), 300)],
  /** Connections that one client address may have open. */
  maxConnectionsPerAddress: ['MAX_CONNECTIONS_PER_ADDRESS', variable(whole(1, 1_000_000), 1_000)],
} as const satisfies Settings;

type OwnValues = SettingValues<typeof SETTINGS>;

function allVariables(settings: Settings): Readonly<Record<string, Variable<unknown>>> {
  return Object.fromEntries(Object.values({ ...SETTINGS, ...settings }));
}

/** The issues of the environment variables, one line for each, with its name. The exit code is 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the configuration from environment variables, with the settings of the features. An empty variable counts as unset.
 * @throws ConfigError that names every wrong variable.
 */
export function parseConfig<S extends Settings>(
  env: NodeJS.ProcessEnv,
  settings: S,
): Config & SettingValues<S> {
  return Object.freeze(describeConfig(parseEnvironment(env, settings).values) as Config & SettingValues<S>);
}

/** The address that the service listens on. The health check reads it without the features. @throws ConfigError. */
export function readAddress({ HOST, PORT }: NodeJS.ProcessEnv) {
  const { host, port } = parseEnvironment({ HOST, PORT }, {}).values;
  return { host, port };
}

/** Those of the features are among `others`. */
function describeConfig({
  productionUrl,
  stagingUrl,
  connections,
  connectTimeout,
  statementTimeout,
  consolePort,
  consoleHost,
  ownConsoleUrl,
  ...others
}: OwnValues) {
  return {
    ...others,
    /** The configured base addresses, without a slash at the end. `baseUrls` adds that of the running environment. */
    urls: {
      ...(productionUrl !== undefined && { production: productionUrl }),
      ...(stagingUrl !== undefined && { staging: stagingUrl }),
    },
    /** The limits of the connections to PostgreSQL. */
    pool: { connections, connectTimeout, statementTimeout },
    /** The listener of the console. Undefined: there is none. */
    console:
      consolePort === undefined ? undefined : { port: consolePort, host: consoleHost, url: ownConsoleUrl },
    /** Where operators find the console. A command may run without the CONSOLE_PORT of the service. */
    consoleUrl: ownConsoleUrl ?? browserOrigin(consoleHost, consolePort ?? FIRST_CONSOLE_PORT),
  };
}

function parseEnvironment<S extends Settings>(env: NodeJS.ProcessEnv, settings: S) {
  const variables = allVariables(settings);
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const issues: string[] = [];
  const entries = Object.entries({ ...SETTINGS, ...settings }).map(
    ([setting, [name, { parse, byDefault }]]) => {
      const value = set[name];
      const refuse = (issue: string) => void issues.push(`${name} ${issue}`);
      return [setting, value === undefined ? byDefault : parse(value, refuse)];
    },
  );
  const values = Object.fromEntries(entries) as OwnValues & SettingValues<S>;
  const { host, port, metricsPort, consoleHost, consolePort } = values;
  issues.push(
    ...portConflicts([
      { variable: 'PORT', host, port },
      { variable: 'METRICS_PORT', host, port: metricsPort },
      { variable: 'CONSOLE_PORT', host: consoleHost, port: consolePort },
    ]),
  );
  issues.push(...unknownVariables(Object.keys(set), Object.keys(variables)).issues);
  if (issues.length > 0) throw new ConfigError(issues.join('\n'));
  return { set, values, variables };
}

/** A line for each variable that looks like one of the service and has no effect. */
export function findVariableWarnings(env: NodeJS.ProcessEnv, settings: Settings): readonly string[] {
  const variables = allVariables(settings);
  const names = Object.keys(variables);
  const inUse = Object.keys(env).filter((name) => env[name] !== '');
  return [
    ...unknownVariables(inUse, names).warnings,
    ...mistypedVariables(env, names, (name, value) => accepts(variables[name], value)),
  ];
}

function accepts(known: Variable<unknown> | undefined, value: string): boolean {
  let isAccepted = true;
  known?.parse(value, () => {
    isAccepted = false;
  });
  return isAccepted;
}

/** A variable of the environment, with the value in force. It can hold a password. */
interface Setting {
  readonly variable: string;
  /** Undefined: it is not set, and has no default. */
  readonly value: string | undefined;
  readonly from: 'environment' | 'default';
}

/**
 * Every variable that `parseConfig` reads.
 * @throws ConfigError that names every wrong variable.
 */
export function listSettings(env: NodeJS.ProcessEnv, settings: Settings): readonly Setting[] {
  const { set, variables } = parseEnvironment(env, settings);
  return Object.entries(variables).map(([name, { written }]) => {
    const value = set[name];
    if (value !== undefined) return { variable: name, value, from: 'environment' };
    return { variable: name, value: written, from: 'default' };
  });
}

/** The configuration without that of the features, checked. */
export type Config = ReturnType<typeof describeConfig>;

/** The base addresses of the committed description. */
export const EXAMPLE_URLS: Readonly<Record<Environment, string>> = {
  production: 'https://petstore.example/v1',
  staging: 'https://staging.petstore.example/v1',
};

/**
 * The base address of the running environment, and all that are known: its own and the configured ones. By default, its own
 * is the address it listens on, with its real `port`.
 */
export function baseUrls(config: Config, port: number) {
  const base = config.urls[config.environment] ?? `${origin(config.host, port)}/v1`;
  return { base, urls: { ...config.urls, [config.environment]: base } };
}

function parseNetwork(item: string): Networks[number] | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item);
  const address = match?.[1] ?? '';
  const version = isIP(address);
  if (version === 0) return undefined;
  const longest = version === 4 ? 32 : 128;
  const prefix = Number(match?.[2] ?? longest);
  return prefix > longest ? undefined : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}
