// Contract: section 7.

/**
 * Parsers of environment variables. A parser calls `refuse` once for each issue, and its result is then not used. They do
 * without zod, because every command reads the configuration: see docs/design/cli.md.
 */
export type Parser<T> = (value: string, refuse: (issue: string) => void) => T;

export const text =
  (issue: string, holds: (value: string) => boolean): Parser<string> =>
  (value, refuse) => {
    if (!holds(value)) refuse(issue);
    return value;
  };
export const whole = (from: number, to: number): Parser<number> => {
  const digits = text(`must be a whole number from ${from} to ${to}`, (value) => {
    return /^\d{1,10}$/.test(value) && Number(value) >= from && Number(value) <= to;
  });
  return (value, refuse) => Number(digits(value, refuse));
};
export const oneOf = <const T extends string>(values: readonly T[]) =>
  text(`must be one of ${values.join(', ')}`, (value) => values.some((each) => each === value)) as Parser<T>;

export interface Variable<T> {
  readonly parse: Parser<T>;
  readonly byDefault: T;
  /** The default as the variable is written. Undefined: there is none, or an empty list. */
  readonly written: string | undefined;
}

export const variable = <T>(parse: Parser<T>, byDefault: NoInfer<T>): Variable<T> => ({
  parse,
  byDefault,
  written: typeof byDefault === 'string' || typeof byDefault === 'number' ? String(byDefault) : undefined,
});

/** A variable without a default. */
export const optional = <T>(parse: Parser<T>): Variable<T | undefined> =>
  variable<T | undefined>(parse, undefined);

/** A number of `unit` milliseconds, in milliseconds. `byDefault` is the number. */
export function time(unit: number, from: number, to: number, byDefault: number): Variable<number> {
  const number = whole(from, to);
  return {
    parse: (value, refuse) => number(value, refuse) * unit,
    byDefault: byDefault * unit,
    written: String(byDefault),
  };
}

/** One of two words: the first one is true. */
export function either(yes: string, no: string, byDefault: boolean): Variable<boolean> {
  const word = oneOf([yes, no]);
  return {
    parse: (value, refuse) => word(value, refuse) === yes,
    byDefault,
    written: byDefault ? yes : no,
  };
}

/** The settings of a feature: by the name in the configuration, the variable and how it is read. */
export type Settings = Readonly<Record<string, readonly [name: string, variable: Variable<unknown>]>>;

/** The values of settings. */
export type SettingValues<S extends Settings> = {
  readonly [Name in keyof S]: S[Name][1] extends Variable<infer T> ? T : never;
};
