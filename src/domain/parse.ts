// Contract: section 4.
import type { z } from 'zod';
import { ServiceError } from './errors.ts';

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
 * @throws ServiceError `invalid_request`, naming every field at fault.
 */
export function parseObject<S extends z.ZodObject>(schema: S, body: unknown): z.output<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new ServiceError('invalid_request', `${faultsOf(schema, body, result.error).join('; ')}.`);
}

/** A text for each field at fault, without a full stop. */
export function faultsOf(schema: z.ZodObject, body: unknown, { issues }: z.ZodError): readonly string[] {
  return issues.map(({ path, message }) => {
    if (path.length === 0) return `The body must be ${expectation(schema)}`;
    return `${path.join('.')} ${isMissing(body, path) ? 'is required' : message}`;
  });
}

/** JSON has no undefined, so a field that is undefined was not sent. */
function isMissing(body: unknown, path: readonly PropertyKey[]): boolean {
  const value = path.reduce((its: unknown, name) => (its as Record<PropertyKey, unknown>)[name], body);
  return value === undefined;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  const [last = '', ...others] = items.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}
