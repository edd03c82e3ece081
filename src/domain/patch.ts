// Contract: sections 3 and 4.
import type { z } from 'zod';
import { describeIssues } from './errors.ts';
import { expectation, listIssues } from './parse.ts';

/**
 * The body of a PATCH (RFC 7396). An issue in it counts only after 404, 412 and 409, so the write of the operation
 * reports it. A plain value, because writes may run on another thread.
 */
export interface Patch<Fields> {
  /** The fields that the body names and that are valid. */
  readonly fields: Readonly<Partial<Fields>>;
  /** All fields that the body names, valid or not. */
  readonly names: readonly string[];
  /** What is wrong, as a message; undefined when nothing is. */
  readonly issue: string | undefined;
}

/** The patch of fields that are valid. */
export function toPatch<Fields extends object>(fields: Fields): Patch<Fields> {
  return { fields, names: Object.keys(fields), issue: undefined };
}

/** A body that is no JSON at all, or missing. */
export function unreadablePatch(issue: string): Patch<unknown> {
  return { fields: {}, names: [], issue };
}

/** The patch that a parsed JSON body describes. Fields that the schema does not have are ignored. */
export function readPatch<S extends z.ZodObject>(schema: S, body: unknown): Patch<z.output<S>> {
  const result = schema.safeParse(body);
  if (result.success) return toPatch(result.data);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return unreadablePatch(`The body must be ${expectation(schema)}.`);
  const wrong = new Set(result.error.issues.map(({ path }) => path[0]));
  const valid = Object.fromEntries(Object.entries(body).filter(([name]) => !wrong.has(name)));
  return {
    fields: schema.parse(valid),
    names: Object.keys(body).filter((name) => Object.hasOwn(schema.shape, name)),
    issue: describeIssues(listIssues(schema, body, result.error)),
  };
}
