import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare } from './compare.ts';
import { startConventional } from './conventional.ts';
import type { Options } from './options.ts';
import { findPlacement } from './placement.ts';
import { doubts, type Row, rowOf, table } from './report.ts';
import { prepareService, startService } from './service.ts';
import { machine, settingLine } from './setting.ts';
import { measureStart, startLines } from './start.ts';
import { localStores, sharedStores } from './stores.ts';
import { count } from './table.ts';

/** Measures the service in every scenario that is asked for. Gives what came out, to be printed. */
export async function throughput(options: Options, signal: AbortSignal): Promise<string> {
  const { animals, rounds, seconds, scenarios, scale, servers, json } = options;
  await using cleanUp = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  const { place, unpinned } = findPlacement();
  const launch = { place, signal };
  const stores = cleanUp.use(await (scale ? sharedStores(servers) : localStores(folder)));
  const { databaseUrl, redisUrl } = stores;
  const warnings = [...stores.warnings];
  if (unpinned !== undefined) warnings.push(`Nothing is pinned to a core: ${unpinned}.`);

  console.error(`Seeding ${count(animals)} animals …`);
  const addresses = { DATABASE_URL: databaseUrl, ...(redisUrl !== undefined && { REDIS_URL: redisUrl }) };
  const prepared = await prepareService(addresses, animals, signal);
  await stores.settle(signal);

  if (options.start) console.error('Measuring start …');
  const start = options.start ? await measureStart(prepared, launch) : undefined;

  const rows: Row[] = [];
  if (scenarios.length > 0) {
    const service = cleanUp.use(await startService(prepared, launch));
    const peer =
      redisUrl === undefined
        ? undefined
        : cleanUp.use(await startConventional({ databaseUrl, redisUrl }, launch));
    const { key } = prepared;
    const counted = redisUrl === undefined ? undefined : prepared.counted;
    const contestants = { service, peer, key, counted };
    for (const scenario of scenarios) {
      console.error(`Measuring ${scenario.name} …`);
      const comparison = { ...launch, folder, animals, rounds, seconds };
      const row = rowOf(await compare(scenario, contestants, comparison));
      rows.push(row);
      warnings.push(...doubts(row));
    }
  }

  const { description } = stores;
  const setting = { ...machine(), stores: description, animals, rounds, seconds };
  if (json) return JSON.stringify({ ...setting, warnings, scenarios: rows, start });
  return [
    `${settingLine(setting)}; ${description}`,
    ...(rows.length > 0 ? [table(rows)] : []),
    ...(start === undefined ? [] : [startLines(start)]),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ].join('\n\n');
}
