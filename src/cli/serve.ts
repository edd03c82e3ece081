// Contract: section 8.
import type { Command } from 'commander';
import type { Banner } from './banner.ts';
import type { LogOutput } from '../observability/log-output.ts';
import { readConfig, variableWarnings } from '../app/config.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Service } from '../app/start.ts';
import { systemActor } from '../config/system-actor.ts';
import { type ProgramTerminal, systemClock } from './context.ts';
import { nextSignal } from './signals.ts';
import { createFirstKey, findValidKey, type Started } from './first-key.ts';
import { type System, waitWithoutBlocking } from '../terminal/output.ts';

const STANDARD_OUTPUT = 1;

/** Milliseconds to wait for the reader of the log. */
const LOG_PATIENCE = 1_000;

/** Milliseconds. A service that has not stopped by then kills itself, because `docker stop` waits 10 s. */
export const STOP_DEADLINE = 9_500;

export function serveCommand(program: Command, { system }: ProgramTerminal): void {
  program
    .command('serve')
    .description('run the service until SIGTERM, SIGINT or SIGHUP; a second signal ends it at once')
    .option(
      '--first-key',
      'if there is no key yet, create one and show it once; with CONSOLE_PORT, also print a link to sign in',
    )
    .action((options: { firstKey?: true }) => serve(system, options.firstKey === true));
}

async function serve(system: System, firstKey: boolean): Promise<void> {
  const { env, stdout, stderr } = system;
  for (const stream of [stdout, stderr]) waitWithoutBlocking(stream);
  // Node.js keeps the answer for later, for the writing thread. It throws when the folder was deleted.
  process.cwd();
  const config = readConfig(env);
  const isPretty = (config.logFormat ?? (stdout.isTTY === true ? 'pretty' : 'json')) === 'pretty';
  // Loaded here, because the help of all commands loads this file.
  const [{ pino }, { LogOutput }, { lineTime, LINE_FORMAT }, { startService }] = await Promise.all([
    import('pino'),
    import('../observability/log-output.ts'),
    import('../observability/request-log.ts'),
    import('../app/start.ts'),
  ]);
  const output = new LogOutput(STANDARD_OUTPUT, {
    onFailure: (reason) => {
      // A reader that is stuck gets no second line.
      if (stderr.writableLength > 0) return;
      stderr.write(`petstore: The log cannot be written: ${reason}. The service goes on without it.\n`);
    },
    onLost: (lines) => log.warn({ lines }, 'lines of the log are lost, because it could not be written'),
  });
  // The last lines say why the process ends. Only a kill loses them.
  process.once('exit', () => output.flushSync());
  const stream = isPretty ? await prettyStream(output, stdout.hasColors?.() === true) : output;
  const log = pino({ ...LINE_FORMAT, level: config.logLevel, timestamp: lineTime() }, stream);
  for (const warning of variableWarnings(env)) log.warn(warning);
  // Before the service logs "listening", because a supervisor may send a signal right after that line.
  const stopSignal = nextSignal();
  const clock = systemClock();
  // The banner has the addresses, too.
  const service = await startService(config, { clock, log, ...(isPretty && { announce: () => undefined }) });
  try {
    const { url, consoleUrl, metricsUrl, store } = service;
    const { environment, databaseUrl } = config;
    const started = { store, environment, log };
    const print = async (banner: Partial<Banner>) => {
      const { bannerText } = await import('./banner.ts');
      const hasColors = stderr.hasColors?.() === true;
      const text = bannerText({
        url,
        consoleUrl,
        metricsUrl,
        environment,
        databaseUrl,
        hasColors,
        ...banner,
      });
      // In a terminal that shows both, the banner stands below the lines of the log.
      await output.flush(LOG_PATIENCE);
      stderr.write(text);
    };
    if (firstKey) await print(await makeFirst(service, started));
    else {
      // If the store does not answer, the service goes on, and a signal still stops it at once.
      await Promise.race([findValidKey(started).catch(ignoreUnavailable), stopSignal]);
      if (isPretty) await print({});
    }
    await stopSignal;
  } finally {
    const deadline = setTimeout(() => {
      log.fatal('the service did not stop in time');
      // Not process.exit, which waits for a write of the log that hangs.
      process.kill(process.pid, 'SIGKILL');
    }, STOP_DEADLINE);
    // Never cleared: it also ends a process that something keeps alive after the stop.
    deadline.unref();
    try {
      await service.stop();
    } finally {
      await output.flush(LOG_PATIENCE);
      // Node would wait for attempts at webhooks and look-ups of names, which are left, and for a reader of standard error.
      setTimeout(() => {
        if (stderr.writableLength === 0) system.exit();
      }).unref();
      setTimeout(() => system.exit(), LOG_PATIENCE).unref();
    }
  }
}

/** Writes lines for people to the log. pino calls `flushSync` for fatal errors. */
async function prettyStream(output: LogOutput, hasColors: boolean) {
  const { prettyLines } = await import('./pretty-log.ts');
  const prettify = prettyLines(hasColors);
  return { write: (line: string) => output.write(prettify(line)), flushSync: () => output.flushSync() };
}

/** The first key, or an account that has keys, and a link to the console if the service has one. */
async function makeFirst({ store, consoleUrl }: Service, started: Started): Promise<Partial<Banner>> {
  const actor = systemActor();
  const firstKey = await createFirstKey(started, actor);
  const { createFirstLink } = await import('./first-link.ts');
  const link = consoleUrl === undefined ? undefined : await createFirstLink(store, actor, consoleUrl);
  if (firstKey === undefined) return { link, account: (await findValidKey(started))?.account.name };
  const [category] = (await store.categories.list({ limit: 1 })).items;
  return { link, firstKey, category };
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
}
