import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare } from './compare.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { findPlacement, isInstalled } from './placement.ts';
import { doubts, type Row, rowOf, table } from './report.ts';
import { startMeasuredService } from './service.ts';

/** The type that `statfs` gives for a folder in memory. */
const TMPFS = 0x0102_1994;

process.exitCode = await main(process.argv.slice(2));

/** Gives the exit code: 0, 1 when it failed, 2 for wrong use, 130 when interrupted. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options | undefined;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
  if (options === undefined) {
    console.log(USAGE);
    return 0;
  }
  if (!isInstalled('wrk')) {
    console.error('The load generator wrk is missing: install it with `apt-get install wrk`.');
    return 1;
  }
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
  try {
    await bench(options, interruption.signal);
    return 0;
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    console.error(`The benchmark failed: ${(error as Error).message}`);
    return 1;
  }
}

async function bench(options: Options, signal: AbortSignal): Promise<void> {
  const { animals, rounds, seconds, scenarios, json } = options;
  await using cleanUp = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  const { place, unpinned } = findPlacement();
  const warnings: string[] = [];
  if (unpinned !== undefined) warnings.push(`Nothing is pinned to a core: ${unpinned}.`);
  if ((await statfs(folder)).type === TMPFS) {
    warnings.push(
      `${tmpdir()} is in memory, so create is not synced to any disk: set TMPDIR to a folder on one.`,
    );
  }

  console.error(`Seeding ${animals.toLocaleString('en')} animals in ${folder} …`);
  const service = await startMeasuredService(folder, animals, { place, signal });
  cleanUp.use(service.server);

  const rows: Row[] = [];
  for (const scenario of scenarios) {
    console.error(`Measuring ${scenario.name} …`);
    const row = rowOf(await compare(scenario, service, { place, folder, animals, rounds, seconds, signal }));
    rows.push(row);
    warnings.push(...doubts(row));
  }
  const setting = {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    folder: tmpdir(),
    animals,
    rounds,
    seconds,
  };
  if (json) console.log(JSON.stringify({ ...setting, warnings, scenarios: rows }));
  else {
    console.log(
      `Node ${setting.node}, ${setting.cpu}; medians of ${rounds} rounds of ${seconds} s; database in ${setting.folder}`,
    );
    console.log(`\n${table(rows)}`);
    for (const warning of warnings) console.log(`\nWarning: ${warning}`);
  }
}
