// Contract: section 7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, readSettings, variableWarnings } from '../../src/app/config.ts';
import { baseUrls, ConfigError } from '../../src/config/config.ts';
import { USUAL_VARIABLES } from './usual-variables.ts';

const faults = (env: Record<string, string>): string[] => {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.split('\n');
  }
  return [];
};

test('without variables every setting has its documented default', () => {
  const config = readConfig({});
  assert.deepEqual(config, {
    host: '127.0.0.1',
    port: 8080,
    environment: 'production',
    urls: {},
    databaseUrl: 'sqlite:data/petstore.db',
    pool: { connections: 10, connectTimeout: 2_000, statementTimeout: 3_000 },
    redisUrl: undefined,
    metricsPort: undefined,
    console: undefined,
    consoleUrl: 'http://localhost:8081',
    trustProxy: [],
    corsOrigins: '*',
    logLevel: 'info',
    logFormat: undefined,
    allowsPrivateWebhooks: false,
    banAfter: 100,
    banSeconds: 300,
    maxConnectionsPerAddress: 1_000,
    orderHold: 72 * 3_600_000,
    maxOpenOrders: 100,
    eventsKept: 30 * 86_400_000,
    auditKept: 400 * 86_400_000,
    hasWebhooks: true,
  });
  assert.ok(Object.isFrozen(config));
});

test('base addresses are the configured ones, and by default that of the listener', () => {
  assert.deepEqual(baseUrls(readConfig({}), 8080), {
    base: 'http://127.0.0.1:8080/v1',
    urls: { production: 'http://127.0.0.1:8080/v1' },
  });
  const staging = readConfig({ PETSTORE_ENVIRONMENT: 'staging', HOST: '::1', PORT: '0' });
  assert.deepEqual(baseUrls(staging, 5000), {
    base: 'http://[::1]:5000/v1',
    urls: { staging: 'http://[::1]:5000/v1' },
  });
  const set = readConfig({ PRODUCTION_URL: 'https://a.example/v1', STAGING_URL: 'http://b.example/pets/v1' });
  assert.deepEqual(baseUrls(set, 1), {
    base: 'https://a.example/v1',
    urls: { production: 'https://a.example/v1', staging: 'http://b.example/pets/v1' },
  });
});

test('addresses are used in their normal form', () => {
  const config = readConfig({
    PRODUCTION_URL: 'HTTPS://API.example:443/v1',
    STAGING_URL: 'http://b\u00fccher.example:80/Pets/v1',
    CORS_ORIGINS: 'https://App.example,https://b.example:443, http://c.example:8080',
    CONSOLE_URL: 'https://Console.example:443',
  });
  assert.deepEqual(config.urls, {
    production: 'https://api.example/v1',
    staging: 'http://xn--bcher-kva.example/Pets/v1',
  });
  assert.deepEqual(config.corsOrigins, ['https://app.example', 'https://b.example', 'http://c.example:8080']);
  assert.equal(config.consoleUrl, 'https://console.example');
  assert.equal(config.console, undefined);
});

test('the console listens on this machine alone, unless CONSOLE_HOST says otherwise', () => {
  assert.equal(readConfig({ HOST: '0.0.0.0', CONSOLE_PORT: '8081' }).console?.host, '127.0.0.1');
  assert.equal(readConfig({ CONSOLE_PORT: '8081', CONSOLE_HOST: '::1' }).console?.host, '::1');
});

test('every variable is read', () => {
  const config = readConfig({
    HOST: '0.0.0.0',
    PORT: '80',
    PETSTORE_ENVIRONMENT: 'staging',
    DATABASE_URL: 'sqlite:/srv/petstore.db',
    METRICS_PORT: '9100',
    TRUST_PROXY: '127.0.0.1,10.0.0.0/8, 2001:db8::/32',
    CORS_ORIGINS: 'https://app.example',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'pretty',
    BAN_AFTER: '7',
    BAN_SECONDS: '60',
    ORDER_HOLD_HOURS: '1',
  });
  assert.equal(config.port, 80);
  assert.equal(config.metricsPort, 9100);
  assert.deepEqual(config.trustProxy[2], { address: '2001:db8::', prefix: 32, family: 'ipv6' });
  assert.deepEqual(config.corsOrigins, ['https://app.example']);
  assert.deepEqual(
    [config.banAfter, config.banSeconds, config.logLevel, config.logFormat],
    [7, 60, 'warn', 'pretty'],
  );
  assert.equal(config.orderHold, 3_600_000);
  assert.equal(readConfig({ ORDER_HOLD_HOURS: '8760' }).orderHold, 8_760 * 3_600_000);
  assert.equal(readConfig({ MAX_OPEN_ORDERS: '1' }).maxOpenOrders, 1);
  assert.equal(readConfig({ MAX_OPEN_ORDERS: '1000000' }).maxOpenOrders, 1_000_000);
});

const BUSTED: Record<string, string[]> = {
  HOST: ['not a host', 'http://localhost', '127.0.0.1:80'],
  PORT: ['80a', '-1', '65536', '1.5', '0x50', ' 80'],
  PETSTORE_ENVIRONMENT: ['prod', 'Production'],
  PRODUCTION_URL: [
    `https://a.example/${'x'.repeat(480)}/v1`,
    'petstore.example/v1',
    'https://petstore.example',
    'https://petstore.example/v1/',
    'ftp://a/v1',
    'https://a/v1?x',
    'https://a/v1?',
    'https://a/v1#x',
    'https://user@a/v1',
    'https://user:secret@a/v1',
    'https:a/v1',
    'https://a b/v1',
    'https://a\\b/v1',
  ],
  STAGING_URL: ['nonsense'],
  DATABASE_URL: ['petstore.db', 'mysql://localhost', 'sqlite:', 'postgres', 'sqlite::memory:'],
  DATABASE_CONNECTIONS: ['1', '1001', 'many'],
  DATABASE_CONNECT_TIMEOUT: ['99', '60001', '2s'],
  DATABASE_STATEMENT_TIMEOUT: ['99', '60001'],
  REDIS_URL: ['localhost:6379', 'http://localhost', 'redis'],
  METRICS_PORT: ['x', '70000'],
  TRUST_PROXY: ['all', '10.0.0.0/33', '2001:db8::/129', '127.0.0.1,', '*'],
  CORS_ORIGINS: [
    'app.example',
    'https://app.example/',
    'https://app.example/path',
    '*,https://app.example',
    'a,b',
    'https://*.app.example',
    'https://%2a.app.example',
    'https://*',
    'https://app..example',
    'https://app.example/,https://b.example',
    'https://user@app.example',
    'https://app.example:443443',
    'file:///app',
    'null',
  ],
  CONSOLE_URL: [
    'console.example',
    'https://a/',
    'https://*.a',
    'https://user@a',
    'https://a?',
    'https://a#x',
    'ftp://a',
  ],
  LOG_LEVEL: ['verbose'],
  LOG_FORMAT: ['text', 'JSON'],
  BAN_AFTER: ['0', '-1', 'many'],
  BAN_SECONDS: ['0', '86401'],
  MAX_CONNECTIONS_PER_ADDRESS: ['0', '1000001', 'many'],
  ORDER_HOLD_HOURS: ['0', '-1', '8761', '1.5', '72h', 'three days'],
  MAX_OPEN_ORDERS: ['0', '-1', '1000001', '1.5', 'all'],
};

for (const [name, values] of Object.entries(BUSTED)) {
  test(`an invalid ${name} is refused by name`, () => {
    for (const value of values) {
      const found = faults({ [name]: value });
      assert.equal(found.length, 1, value);
      assert.match(String(found[0]), new RegExp(`^${name} must `));
    }
  });
}

test('all invalid variables are reported at once', () => {
  const env = Object.fromEntries(Object.entries(BUSTED).map(([name, values]) => [name, values[0] ?? '']));
  assert.deepEqual(
    faults(env)
      .map((line) => line.split(' ')[0])
      .toSorted(),
    Object.keys(BUSTED).toSorted(),
  );
});

test('two listeners with one port are refused by name', () => {
  const same = (variable: string, other: string, port: number) =>
    `${variable} must differ from ${other}: both listeners would use port ${port}`;
  assert.deepEqual(faults({ PORT: '9000', METRICS_PORT: '9000' }), [same('METRICS_PORT', 'PORT', 9000)]);
  assert.deepEqual(faults({ CONSOLE_PORT: '8080' }), [same('CONSOLE_PORT', 'PORT', 8080)], 'the default');
  assert.deepEqual(faults({ METRICS_PORT: '9000', CONSOLE_PORT: '9000', BAN_AFTER: '0' }), [
    'BAN_AFTER must be a whole number from 1 to 10000',
    same('CONSOLE_PORT', 'METRICS_PORT', 9000),
  ]);
  for (const [HOST, CONSOLE_HOST, isRefused] of [
    ['127.0.0.1', 'localhost', true],
    ['0.0.0.0', '127.0.0.1', true],
    ['0.0.0.0', 'localhost', true],
    ['10.0.0.1', '::', true],
    ['0.0.0.0', '::1', false],
    ['10.0.0.1', '127.0.0.1', false],
  ] as const) {
    const found = faults({ HOST, CONSOLE_HOST, PORT: '9000', CONSOLE_PORT: '9000' });
    assert.deepEqual(found, isRefused ? [same('CONSOLE_PORT', 'PORT', 9000)] : [], `${HOST} ${CONSOLE_HOST}`);
  }
  assert.deepEqual(faults({ PORT: '0', METRICS_PORT: '0', CONSOLE_PORT: '0' }), [], 'any free ports');
});

test('an empty variable counts as unset, and NODE_ENV changes nothing', () => {
  assert.deepEqual(readConfig({ PORT: '', LOG_LEVEL: '', NODE_ENV: 'production' }), readConfig({}));
});

test('a mistyped PETSTORE_ENVIRONMENT stops the start, unless the right one is set', () => {
  for (const name of ['PETSTORE_ENVIROMENT', 'PETSTORE_ENV', 'petstore_environment', 'PESTORE_ENVIRONMENT'])
    assert.deepEqual(faults({ [name]: 'staging', PORT: 'x' }), [
      'PORT must be a whole number from 0 to 65535',
      `${name} is not a variable of the service: did you mean PETSTORE_ENVIRONMENT?`,
    ]);
  const both = { PETSTORE_ENV: 'staging', PETSTORE_ENVIRONMENT: 'staging' };
  assert.deepEqual(faults(both), []);
  assert.deepEqual(variableWarnings(both), [
    'PETSTORE_ENV is not a variable of the service and has no effect: did you mean PETSTORE_ENVIRONMENT?',
  ]);
});

test('the address of a Service of Kubernetes in place of a port stops the start, and the message says what to do', () => {
  for (const name of ['PORT', 'METRICS_PORT', 'CONSOLE_PORT'])
    assert.deepEqual(faults({ [name]: 'tcp://10.0.0.1:80' }), [
      `${name} is set by Kubernetes for a Service of this name: set it yourself, or set enableServiceLinks: false in the pod`,
    ]);
});

test('another unknown variable causes a warning with the nearest name', () => {
  const env = { PETSTORE_DATABASE_URL: 'sqlite:a.db', PETSTORE_IMAGE_TAG: '1', PETSTORE_EMPTY: '' };
  assert.deepEqual(faults(env), []);
  assert.deepEqual(variableWarnings(env), [
    'PETSTORE_DATABASE_URL is not a variable of the service and has no effect: did you mean DATABASE_URL?',
    'PETSTORE_IMAGE_TAG is not a variable of the service and has no effect: remove it.',
  ]);
});

test('variables of clients, Kubernetes and Docker cause no warning', () => {
  const env = {
    PETSTORE_API_KEY: 'petstore_test_x',
    PETSTORE_URL: 'http://127.0.0.1:8080/v1',
    PETSTORE_SERVICE_HOST: '10.0.0.1',
    PETSTORE_SERVICE_PORT_HTTP: '8080',
    PETSTORE_PORT: 'tcp://10.0.0.1:8080',
    PETSTORE_PORT_8080_TCP_ADDR: '10.0.0.1',
    PETSTORE_CONSOLE_SERVICE_HOST: '10.0.0.2',
    PETSTORE_ENV_LANG: 'C',
  };
  assert.deepEqual(faults(env), []);
  assert.deepEqual(variableWarnings(env), []);
});

test('a variable without the prefix that is nearly one of ours causes a warning', () => {
  for (const [name, value, near] of [
    ['PROT', '9000', 'PORT'],
    ['HSOT', '0.0.0.0', 'HOST'],
    ['port', '9000', 'PORT'],
    ['LOG_LEVL', 'debug', 'LOG_LEVEL'],
    ['LOGLEVEL', 'debug', 'LOG_LEVEL'],
    ['DATABSE_URL', 'postgres://localhost/pets', 'DATABASE_URL'],
    ['TRUSTED_PROXY', '10.0.0.0/8', 'TRUST_PROXY'],
    ['METRIC_PORT', '9100', 'METRICS_PORT'],
    ['WEBHOOK', 'off', 'WEBHOOKS'],
  ] as const) {
    const warning = `${name} is not a variable of the service and has no effect: did you mean ${near}?`;
    assert.deepEqual(variableWarnings({ [name]: value }), [warning]);
    assert.deepEqual(faults({ [name]: value }), []);
  }
});

test('a similar name is no warning if the right one is set, or if its value cannot be meant', () => {
  assert.deepEqual(variableWarnings({ PROT: '9000', PORT: '9000' }), []);
  assert.deepEqual(variableWarnings({ PROT: 'tcp' }), []);
  assert.deepEqual(
    variableWarnings({ METRIC_PORT: 'tcp://10.0.0.1:80', WEBHOOK: 'https://chat.example/1' }),
    [],
  );
  assert.deepEqual(variableWarnings({ DATABASE_URI: 'mysql://localhost/shop' }), []);
});

test('a usual environment causes no warning, whatever its values', () => {
  const values = [
    ...readSettings({}).map(({ value }) => value),
    '9000',
    'redis://a',
    'http://a/v1',
    'http://a',
  ];
  for (const value of values)
    assert.deepEqual(variableWarnings(Object.fromEntries(USUAL_VARIABLES.map((name) => [name, value]))), []);
});
