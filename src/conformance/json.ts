// Contract: section 2.2.
import { toJson } from '../domain/json.ts';

/** JSON in which an integer is a bigint, and any other number (a fraction, or one with an exponent) stays a number. */
export type Json =
  | null
  | boolean
  | string
  | number
  | bigint
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

/**
 * Reads each number by its source text, because a number that was rounded on the way looks like any other.
 * Undefined if the text is not JSON.
 */
export function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text, exactNumber) as Json;
  } catch {
    return undefined;
  }
}

function exactNumber(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  return typeof value === 'number' && source !== undefined && /^-?\d{1,40}$/.test(source)
    ? BigInt(source)
    : value;
}

/** The member of an object, or undefined. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function isObject(value: unknown): value is { readonly [name: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function elements(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** A text as it is, any other value as JSON. */
export function toText(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? value : toJson(value);
}
