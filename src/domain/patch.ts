// Contract: sections 3 and 4.
import type { z } from 'zod';
import { faultsMessage } from './errors.ts';
import { expectation, faultsOf } from './parse.ts';

/**
 * The body of a PATCH (RFC 7396). A fault in it counts only after 404, 412 and 409, so the write of the operation
 * reports it. A plain value, because writes may run on another thread.
 */
export interface Patch<Fields> {
  /** The fields that the body names and that are valid. */
  readonly fields: Readonly<Partial<Fields>>;
  /** All fields that the body names, valid or not. */
  readonly names: readonly string[];
  /** What is wrong, as a message; undefined when nothing is. */
  readonly fault: string | undefined;
}

/** The patch of fields that are valid. */
export function toPatch<Fields extends object>(fields: Fields): Patch<Fields> {
  return { fields, names: Object.keys(fields), fault: undefined };
}

/** A body that is no JSON at all, or missing. */
export function unreadablePatch(fault: string): Patch<unknown> {
  return { fields: {}, names: [], fault };
}

/** The patch that a parsed JSON body describes. Fields that the schema does not have are ignored. */
export function readPatch<S extends z.ZodObject>(schema: S, body: unknown): Patch<z.output<S>> {
  const result = schema.safeParse(body);
  if (result.success) return toPatch(result.data);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return unreadablePatch(`The body must be ${expectation(schema)}.`);
  const faulty = new Set(result.error.issues.map(({ path }) => path[0]));
  const valid = Object.fromEntries(Object.entries(body).filter(([name]) => !faulty.has(name)));
  return {
    fields: schema.parse(valid),
    names: Object.keys(body).filter((name) => Object.hasOwn(schema.shape, name)),
    fault: faultsMessage(faultsOf(schema, body, result.error)),
  };
}
