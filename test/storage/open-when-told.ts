import { once } from 'node:events';
import { argv, stdin, stdout } from 'node:process';
import { steadyClock } from '../../src/domain/clock.ts';
import { CLIENT, openStore } from '../support/store.ts';
import { requireValue, REX } from './fixture.ts';

// A process of its own for the tests: loads everything, waits to be told, then opens the store, serves and adds an animal.
const [, , databaseUrl = '', environment = ''] = argv;
stdout.write('ready\n');
await once(stdin, 'data');
const store = openStore(
  databaseUrl,
  steadyClock(Date.now, () => performance.now()),
);
if (environment !== '') await store.lockForServing(environment);
stdout.write(`added ${requireValue(await store.pets.create(CLIENT, REX)).id}\n`);
