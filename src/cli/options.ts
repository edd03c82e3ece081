import { type Command, InvalidArgumentError, Option } from 'commander';
import { SCOPES, type Scope } from '../domain/account.ts';
import { type Limits, type Plan, PLAN_NAMES } from '../domain/plan.ts';

/** What commander makes of the options that `limitOptions` adds. */
export type LimitOptions = Partial<Limits>;

export interface PlanOptions extends LimitOptions {
  readonly plan?: Plan;
}

const LIMIT_MAX = 1_000_000_000;

export const JSON_OPTION = ['--json', 'print one JSON value and nothing else on standard output'] as const;

/** A parser for commander of whole numbers in this range, both ends included. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,16}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** The number of a key, as `keys list` shows it. */
export const keyId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export function planOption(description: string): Option {
  return new Option('--plan <plan>', description).choices(PLAN_NAMES);
}

export function limitOptions(command: Command): Command {
  return command
    .option('--per-minute <number>', 'requests per minute, for plan enterprise', wholeNumber(1, LIMIT_MAX))
    .option('--per-day <number>', 'requests per UTC day, for plan enterprise', wholeNumber(1, LIMIT_MAX));
}

/** Scopes separated by commas. */
export function scopes(text: string): readonly Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name));
  if (unknown === undefined) return SCOPES.filter((scope) => names.includes(scope));
  throw new InvalidArgumentError(`Allowed scopes are ${SCOPES.join(', ')}, separated by commas.`);
}

/** A label that a terminal can show. */
export function label(text: string): string {
  if (/^[^\p{Cc}\p{Cs}]{1,100}$/u.test(text)) return text;
  throw new InvalidArgumentError('A label has 1 to 100 characters and no control characters.');
}
