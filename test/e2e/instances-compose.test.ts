// Contract: section 7.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readConfig } from '../../src/app/config.ts';

interface Compose {
  readonly services: Record<string, { environment?: Record<string, string> }>;
  readonly networks: { inside: { ipam: { config: { subnet: string }[] } } };
}

const file = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

const GIVEN: Record<string, string> = {
  POSTGRES_PASSWORD: 'secret1',
  REDIS_PASSWORD: 'secret2',
  PRODUCTION_URL: 'https://pets.example/v1',
};

test('compose.yaml configures PostgreSQL, Valkey and the trusted proxy', () => {
  const { services, networks } = parse(file('compose.yaml')) as Compose;
  const given = Object.entries(services['service']?.environment ?? {}).map(([name, value]) => {
    return [name, value.replaceAll(/\$\{(\w+):[?-]\}/g, (_, variable: string) => GIVEN[variable] ?? '')];
  });
  const config = readConfig(Object.fromEntries(given) as Record<string, string>);
  assert.equal(config.databaseUrl, 'postgres://petstore:secret1@postgres/petstore');
  assert.equal(config.redisUrl, 'redis://:secret2@valkey');
  assert.equal(config.urls.production, GIVEN['PRODUCTION_URL']);
  const [network] = networks.inside.ipam.config;
  assert.deepEqual(
    config.trustProxy.map(({ address, prefix }) => `${address}/${prefix}`),
    [network?.subnet],
  );
});

test('compose.yaml takes every secret from the environment', () => {
  const secrets = file('compose.yaml').match(/(?:PASSWORD|AUTH):.*|requirepass \S+|:\/\/\S+@/g) ?? [];
  assert.ok(secrets.length >= 4);
  for (const secret of secrets) assert.match(secret, /\$\{\w+:\?\}/);
});
