import { type Command, Option } from 'commander';
import type { Config } from '../config/config.ts';
import type { OperatorActor } from '../domain/audit.ts';
import type { Clock } from '../domain/clock.ts';
import { type ErrorCode, ServiceError } from '../domain/errors.ts';
import type { Result } from '../domain/result.ts';
import type { RateLimitAdmin } from '../limits/limiter.ts';
import type { Output, System } from './output.ts';
import { flag, JSON_OPTION, type Takers, type Values } from './takers.ts';
import type { View } from './view.ts';

/** What a command works with. It names the repositories that it uses. */
export interface CommandContext<Repositories, Settings = unknown> {
  readonly config: Config & Settings;
  readonly clock: Clock;
  readonly store: Repositories;
  /** The user of the system who runs the command. */
  readonly actor: OperatorActor;
  readonly system: System;
  /** Opens the limits that the service uses: those in Redis if `REDIS_URL` is set, or in the store. @throws StartupError */
  useQuotas<T>(this: void, work: (quotas: RateLimitAdmin) => Promise<T>): Promise<T>;
  /**
   * Like `useQuotas`. Undefined while Redis does not answer: prints a line that `things` are not shown, because the rest of
   * the output is useful without them.
   */
  tryQuotas<T>(
    this: void,
    things: string,
    work: (quotas: RateLimitAdmin) => Promise<T>,
  ): Promise<T | undefined>;
}

/** What the program gives to a command. */
export interface Terminal<Context> extends Output {
  readonly system: System;
  /**
   * Opens the configured store for one command, and closes it however the command ends. A service may be running on it.
   * @throws ConfigError; StartupError, also when there is no database yet: a mistyped address makes no empty catalogue.
   */
  withStore(this: void, command: (context: Context) => Promise<void>): Promise<void>;
}

/** Adds a command to the program or to a group. */
type AddCommand<Context> = (program: Command, terminal: Terminal<Context>) => void;

/** What help says of a command, and what can be typed. */
interface Usage<T extends Takers> {
  readonly description: string;
  /** In the order of help. `--json` is the last option, unless it is among them. */
  readonly takes?: T;
  /** What help says below the options. */
  readonly notes?: string;
  readonly examples?: readonly string[];
}

/** A sentence, if something is wrong. */
type Issue = string | false | undefined;

interface Declaration<T extends Takers, Context> extends Usage<T> {
  /** What is wrong with the values, told before the store is opened. */
  readonly check?: (values: Values<T>) => Issue | Promise<Issue>;
  /** Its second argument names in its type what it uses. */
  readonly run: (values: Values<T>, context: Context) => View | Promise<View>;
}

/** Declares a command that uses the store. */
export function command<Context, const T extends Takers = {}>(
  name: string,
  { check, run, ...usage }: Declaration<T, Context>,
): AddCommand<Context> {
  return (program, terminal) =>
    addCommand(program, name, usage, async (values, json) => {
      const issue = await check?.(values);
      if (issue) throw new ServiceError('invalid_parameter', issue);
      await terminal.withStore(async (context) => (await run(values, context))(terminal, json));
    });
}

/** Declares a command that needs no store, or opens one in its own way. */
export function ownCommand<Own extends Output, const T extends Takers = {}>(
  name: string,
  { run, ...usage }: Usage<T> & { readonly run: (values: Values<T>, terminal: Own) => View | Promise<View> },
): (program: Command, terminal: Own) => void {
  return (program, terminal) =>
    addCommand(program, name, usage, async (values, json) => (await run(values, terminal))(terminal, json));
}

function addCommand<T extends Takers>(
  program: Command,
  name: string,
  { description, takes, notes, examples }: Usage<T>,
  act: (values: Values<T>, json: true | undefined) => Promise<void>,
): void {
  const added = program.command(name).description(description);
  const names: string[] = [];
  for (const [key, taker] of Object.entries({ ...takes, json: takes?.['json'] ?? JSON_FLAG }))
    for (const taken of taker.make(key))
      if (taken instanceof Option) added.addOption(taken);
      else {
        added.addArgument(taken);
        names.push(key);
      }
  added.addHelpText('after', describeUse(notes, examples)).action(() => {
    const { json, ...options } = added.opts<{ json?: true }>();
    const values = Object.fromEntries(names.map((key, place) => [key, added.processedArgs[place]]));
    return act({ ...values, ...options } as Values<T>, json);
  });
}

const JSON_FLAG = flag(JSON_OPTION[1]);

/** The text of help below the options. */
function describeUse(notes: string | undefined, examples: readonly string[] = []): string {
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  return [
    ...(notes === undefined ? [] : ['', notes]),
    ...(examples.length === 0 ? [] : ['', title, ...examples.map((example) => `  ${example}`)]),
  ].join('\n');
}

/** Declares a group of commands. Behind a `|`, its name may have an alias. */
export function group<Context>(
  name: string,
  description: string,
  commands: readonly AddCommand<Context>[],
): AddCommand<Context> {
  return (program, terminal) => {
    const [word = name, ...aliases] = name.split('|');
    const added = program.command(word).aliases(aliases).description(description);
    for (const add of commands) add(added, terminal);
  };
}

/** Declares commands that belong to the group of a feature below. */
export function addTo<Context>(name: string, commands: readonly AddCommand<Context>[]): AddCommand<Context> {
  return (program, terminal) => {
    const found = program.commands.find((each) => each.name() === name);
    if (found === undefined) throw new Error(`There is no command ${name} to add to.`);
    for (const add of commands) add(found, terminal);
  };
}

/** The value of a result. @throws ServiceError with the refusal. To a command, an invalid request is a wrong use. */
export function requireValue<T>(result: Result<T, ErrorCode>): T {
  if ('value' in result) return result.value;
  const { error, message = error } = result;
  throw new ServiceError(error === 'invalid_request' ? 'invalid_parameter' : error, message);
}

/** What has this name, where a name was typed. */
export async function findNamed<T>(
  repository: { find(this: void, name: string): Promise<Result<T, ErrorCode>> },
  name: string | undefined,
): Promise<T | undefined> {
  return name === undefined ? undefined : requireValue(await repository.find(name));
}
