import { Argument, Option } from 'commander';
import { LIMIT_MAX } from '../domain/plan.ts';
import { type Instant, readId, readInstant, readSince, wholeNumber } from './parsers.ts';

/** What a command takes under a name: an argument, or options. `value` stands for the type of what is typed. */
export interface Taker<Value> {
  readonly make: (name: string) => readonly (Argument | Option)[];
  readonly value?: Value;
}

export type Takers = Readonly<Record<string, Taker<unknown>>>;

type ValueFrom<T> = T extends Taker<infer Value> ? Value : never;

/** What was typed, by name. */
export type Values<T extends Takers> = {
  readonly [Name in keyof T as undefined extends ValueFrom<T[Name]> ? never : Name]: ValueFrom<T[Name]>;
} & {
  readonly [Name in keyof T as undefined extends ValueFrom<T[Name]> ? Name : never]?: Exclude<
    ValueFrom<T[Name]>,
    undefined
  >;
};

/** A parser for commander. `before` is what the same argument had before. */
type Parse<Value> = (text: string, before: Value) => Value;

/** `<id>`, or `[id]` if it may be missing. */
export function argument(name: `<${string}>`, description?: string): Taker<string>;
export function argument<Value>(name: `<${string}>`, description: string, parse: Parse<Value>): Taker<Value>;
export function argument<Value>(
  name: `[${string}]`,
  description: string,
  parse: Parse<Value>,
): Taker<Value | undefined>;
export function argument(name: string, description?: string, parse?: Parse<unknown>): Taker<unknown> {
  const make = () => {
    const taken = new Argument(name, description);
    return [parse === undefined ? taken : taken.argParser(parse)];
  };
  return { make };
}

/** The option `--per-day <number>` of the name `perDay` and the value `<number>`. */
export function option(value: string, description: string): Taker<string | undefined>;
export function option<Value>(
  value: string,
  description: string,
  parse: Parse<Value>,
): Taker<Value | undefined>;
export function option(value: string, description: string, parse?: Parse<unknown>): Taker<unknown> {
  const make = (name: string) => {
    const taken = new Option(`${toFlag(name)} ${value}`, description);
    return [parse === undefined ? taken : taken.argParser(parse)];
  };
  return { make };
}

/** An option that may be repeated: a list of what is typed. */
export function repeated(value: string, description: string): Taker<readonly string[] | undefined> {
  // Before `--tag`, `--no-tag` may have set false.
  return option<readonly string[]>(value, description, (text, before: unknown) => [
    ...(Array.isArray(before) ? (before as readonly string[]) : []),
    text,
  ]);
}

/** An option that has one of these values. */
export function choice<Value extends string>(
  value: string,
  description: string,
  values: readonly Value[],
): Taker<Value | undefined> {
  return { make: (name) => [new Option(`${toFlag(name)} ${value}`, description).choices(values)] };
}

/** An option that has one or more of these values. */
export function choices<Value extends string>(
  value: `<${string}...>`,
  description: string,
  values: readonly Value[],
): Taker<readonly Value[] | undefined> {
  return { make: (name) => [new Option(`${toFlag(name)} ${value}`, description).choices(values)] };
}

/** An option without a value. */
export function flag(description: string): Taker<true | undefined> {
  return { make: (name) => [new Option(toFlag(name), description)] };
}

export function required<Value>({ make }: Taker<Value | undefined>): Taker<Value> {
  const require = (taken: Argument | Option) =>
    taken instanceof Option ? taken.makeOptionMandatory() : taken.argRequired();
  return { make: (name) => make(name).map(require) };
}

/** An option that does not go with the option of the name `other`. */
export function excluding<Value>({ make }: Taker<Value>, other: string): Taker<Value> {
  const exclude = (taken: Argument | Option) => (taken instanceof Option ? taken.conflicts(other) : taken);
  return { make: (name) => make(name).map(exclude) };
}

/** Help shows the default as `shown`. */
export function withDefault<Value>(
  { make }: Taker<Value | undefined>,
  value: Value,
  shown?: string,
): Taker<Value> {
  return { make: (name) => make(name).map((taken) => taken.default(value, shown)) };
}

/** The same, and an option that removes the value: `--no-breed` gives false. */
export function removable<Value>({ make }: Taker<Value>, description: string): Taker<Value | false> {
  return { make: (name) => [...make(name), new Option(toFlag(`no-${name}`), description)] };
}

function toFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The flags and the description of an option that nearly every command has. */
export const JSON_OPTION = ['--json', 'print one JSON value and nothing else on standard output'] as const;

/** The `json` of a command that has nothing to show in JSON. */
export const NO_JSON: Taker<undefined> = { make: () => [] };

/** An instant in the past. A duration counts from now backwards. */
export function instantBefore(description: string, example: string): Taker<Instant | undefined> {
  const form = `a date (midnight UTC), an ISO 8601 instant, or a duration before now: ${example}`;
  return option('<when>', `${description}: ${form}`, readSince);
}

/** An instant in the future. */
export function instantAhead(description: string): Taker<Instant | undefined> {
  const form = 'a date (midnight UTC), an ISO 8601 instant, or a duration from now: 90d';
  return option('<when>', `${description}: ${form}`, readInstant);
}

/** For lists that are printed page by page. */
export const LIMIT = option(
  '<number>',
  'only the first rows; without it, a terminal shows 100, and pipes and --json get all',
  readId,
);

/** For a plan whose limits are chosen. */
export const LIMITS = {
  perMinute: option('<number>', 'requests per minute, for plan enterprise', wholeNumber(1, LIMIT_MAX)),
  perDay: option('<number>', 'requests per UTC day, for plan enterprise', wholeNumber(1, LIMIT_MAX)),
};
