// Contract: section 2.
import { z } from 'zod';

/** A text of 1 to `max` characters that is not only white space. */
export function text(
  max: number,
  { description, examples }: { readonly description: string; readonly examples: string[] },
): z.ZodString {
  return (
    z
      .string({ error: `must be a string of 1 to ${max} characters` })
      // Not `superRefine`, which creates a function for each text.
      .refine((its) => fault(its, max) === undefined, { error: ({ input }) => fault(String(input), max) })
      .meta({ description, minLength: 1, maxLength: max, pattern: '\\S', examples })
  );
}

/** The length is in code points, as in JSON Schema. PostgreSQL can store neither NUL nor a lone surrogate. */
function fault(its: string, max: number): string | undefined {
  if (its.trim() === '') return 'must not be empty or only white space';
  if (its.length > max && Array.from(its).length > max) return `must have at most ${max} characters`;
  if (its.includes('\0')) return 'must not contain a NUL character';
  if (!its.isWellFormed()) return 'must not contain a lone surrogate';
  return undefined;
}
