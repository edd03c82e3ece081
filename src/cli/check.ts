// Contract: sections 1 to 6, 9 and 13.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import { normalBase } from '../config/addresses.ts';
import { ConfigError } from '../config/config.ts';
import type { Report } from '../conformance/run.ts';
import type { Outcome } from '../conformance/check.ts';
import { OPERATORS_ONLY, UNSEEN } from '../conformance/unseen.ts';
import { SECOND } from '../domain/clock.ts';
import { StartupError } from '../domain/startup-error.ts';
import { ownCommand } from '../terminal/command.ts';
import { argument, flag, option, removable } from '../terminal/takers.ts';
import type { View } from '../terminal/view.ts';
import { type ProgramTerminal, systemClock } from './context.ts';
import { onSignal } from './signals.ts';

/** Milliseconds: a longer pause is printed. */
const LONG_PAUSE = 3 * SECOND;

export const checkCommand = ownCommand('check', {
  description: 'compare a deployment with the contract, section by section, over HTTP only',
  takes: {
    url: argument('<url>', 'the base address of its API, which ends in /v1', base),
    key: option('<key>', 'an API key; without it, that of PETSTORE_API_KEY, which other users do not see'),
    write: removable(
      flag('also add, change and delete animals, orders, categories and webhooks, and delete them again'),
      'only read, also where the key is of staging',
    ),
  },
  notes: `With a key of production, it only reads unless --write says otherwise. It needs no database.
It paces itself by the rate headers, leaves a tenth of each window and takes at most a quarter of a day.
Exit status: 0 nothing is broken, 1 something is or the check could not finish.`,
  examples: [
    'petstore check https://api.example/v1',
    'petstore check http://127.0.0.1:8080/v1 --write --json',
  ],
  run: async ({ url, key = '', write }, { system, printError }: ProgramTerminal) => {
    const sentKey = key || system.env['PETSTORE_API_KEY'] || '';
    if (!/^[\x21-\x7e]{1,256}$/.test(sentKey))
      throw new ConfigError('PETSTORE_API_KEY or --key must be an API key');
    // Loaded here, so that help does without it.
    const { isProduction, runChecks } = await import('../conformance/run.ts');
    const writes = write ?? !isProduction(sentKey);
    const interrupted = new AbortController();
    const forget = onSignal(() => {
      const cleaning = ', and deletes what it added. Ctrl-C again ends it at once';
      printError(`petstore: The check ends${writes ? cleaning : ''}.`);
      interrupted.abort();
    });
    const wait = async (milliseconds: number, signal: AbortSignal) => {
      if (milliseconds >= LONG_PAUSE && system.stderr.isTTY === true)
        printError(`petstore: It waits ${Math.ceil(milliseconds / SECOND)} s, to stay below the limits.`);
      await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
    };
    try {
      const report = await runChecks({
        base: url,
        key: sentKey,
        writes,
        clock: systemClock(),
        wait,
        random: randomBytes,
        signal: interrupted.signal,
      });
      return viewReport(report, url, writes);
    } finally {
      forget();
    }
  },
});

function base(text: string): URL {
  const url = normalBase(text);
  if (url === undefined)
    throw new InvalidArgumentError('It must be an http or https address that ends in /v1.');
  return new URL(url);
}

/** @throws StartupError after the report, if something is broken or was not finished. */
function viewReport(report: Report, url: URL, writes: boolean): View {
  const { outcomes, requests, waited, stopped, left } = report;
  const count = (state: Outcome['state']) => outcomes.filter((each) => each.state === state).length;
  const broken = count('broken');
  return ({ printJson, printLine }, json) => {
    if (json) printJson({ url: url.href, writes, ...report, unseen: UNSEEN });
    else {
      for (const outcome of outcomes) for (const line of describe(outcome)) printLine(line);
      printLine('');
      printLine(
        `${url.href}: ${count('kept')} promises kept, ${broken} broken, ${count('not checked')} not checked, in ${requests} requests and ${Math.round(waited / SECOND)} s of waiting.`,
      );
      if (!writes) printLine('It only read: --write also adds, changes and deletes.');
      for (const path of left) printLine(`Left behind: ${path}`);
      printLine('Not seen from outside:');
      for (const { section, what } of UNSEEN) printLine(`  ${section.padEnd(4)}  ${what}`);
      printLine(`  ${OPERATORS_ONLY.join(', ')}  configuration, commands, and what only operators see`);
    }
    if (stopped !== undefined) throw new StartupError(`The check did not finish: ${stopped}.`);
    if (broken > 0)
      throw new StartupError(`${broken} ${broken === 1 ? 'promise is' : 'promises are'} broken.`);
  };
}

/** A line for each promise, or for each finding of a broken one. */
function describe({ section, promise, state, answers, reason, findings }: Outcome): readonly string[] {
  const title = `${state.padEnd(11)}  ${section.padEnd(4)}  ${promise}`;
  if (state === 'broken')
    return findings.map(
      ({ request, expected, came }) => `${title}: ${request}: expected ${expected}; came ${came}`,
    );
  if (state === 'not checked') return [`${title}: ${reason}`];
  return [answers === 0 ? title : `${title} (${answers} ${answers === 1 ? 'answer' : 'answers'})`];
}
