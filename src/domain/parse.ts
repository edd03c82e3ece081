// Contract: sections 2 and 4.
import type { z } from 'zod';
import { describeIssues, ServiceError } from './errors.ts';
import { int64FromJson } from './int64.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body. Every number that is an int64 becomes an exact bigint. Other numbers stay inexact, and fit no field.
 * @throws ServiceError `invalid_request` when the body is not UTF-8, not JSON, or nested too deeply.
 */
export function parseBody(body: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch (error) {
    throw new ServiceError('invalid_request', 'The body must be encoded in UTF-8.', { cause: error });
  }
  try {
    return parseExactJson(text);
  } catch (error) {
    const issue = error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON';
    throw new ServiceError('invalid_request', `The body ${issue}.`, { cause: error });
  }
}

/**
 * `JSON.parse` in which every number that is an int64 is an exact bigint.
 * @throws SyntaxError when the text is not JSON, RangeError when it is nested too deeply.
 */
export function parseExactJson(text: string): unknown {
  // Integers of up to 15 digits are exact anyway, and a parse with the source texts takes three times as long.
  return /\d[.eE]|\d{16}/.test(text) ? JSON.parse(text, exactNumber) : withBigints(JSON.parse(text));
}

/** Turns every number in a value into a bigint. All of them must be integers. */
function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value !== 'object' || value === null) return value;
  const parent = value as Record<string, unknown>;
  for (const key of Object.keys(parent)) parent[key] = withBigints(parent[key]);
  return parent;
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined
    ? (int64FromJson(context.source) ?? value)
    : value;
}

/** The fields that an empty object lacks. */
export function requiredFields(schema: z.ZodObject): string[] {
  return schema.safeParse({}).error?.issues.map(({ path }) => path.join('.')) ?? [];
}

/** What the schema of a body asks for: `a JSON object with name and categoryId`. */
export function expectation(schema: z.ZodObject): string {
  const required = requiredFields(schema);
  return required.length === 0 ? 'a JSON object' : `a JSON object with ${listed(required)}`;
}

/**
 * The value that a parsed JSON body describes.
 * @throws ServiceError `invalid_request`, naming the wrong fields.
 */
export function parseObject<S extends z.ZodObject>(schema: S, body: unknown): z.output<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new ServiceError('invalid_request', describeIssues(listIssues(schema, body, result.error)));
}

/** A text for each wrong field, without a full stop. */
export function listIssues(schema: z.ZodObject, body: unknown, { issues }: z.ZodError): readonly string[] {
  return issues.map(({ path, message }) => {
    if (path.length === 0) return `The body must be ${expectation(schema)}`;
    return `${path.join('.')} ${isMissing(body, path) ? 'is required' : message}`;
  });
}

/** JSON has no undefined, so a field that is undefined was not sent. */
function isMissing(body: unknown, path: readonly PropertyKey[]): boolean {
  const value = path.reduce((parent: unknown, name) => (parent as Record<PropertyKey, unknown>)[name], body);
  return value === undefined;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  const [last = '', ...others] = items.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}
