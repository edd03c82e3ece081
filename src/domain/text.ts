// Contract: section 2.
import { z } from 'zod';

interface About {
  readonly description: string;
  readonly examples: string[];
}

/** A text of at most `max` characters, which may be empty. */
export function optionalText(max: number, about: About): z.ZodString {
  return z
    .string({ error: `must be a string of at most ${max} characters` })
    .refine((its) => storageFault(its, max) === undefined, {
      error: ({ input }) => storageFault(String(input), max),
    })
    .meta({ ...about, maxLength: max, pattern: '^[^\\u0000]*$' });
}

/** A text of 1 to `max` characters that is not only white space. */
export function text(max: number, { description, examples }: About): z.ZodString {
  return (
    z
      .string({ error: `must be a string of 1 to ${max} characters` })
      // Not `superRefine`, which creates a function for each text.
      .refine((its) => fault(its, max) === undefined, { error: ({ input }) => fault(String(input), max) })
      .meta({ description, minLength: 1, maxLength: max, pattern: '\\S', examples })
  );
}

function fault(its: string, max: number): string | undefined {
  return its.trim() === '' ? 'must not be empty or only white space' : storageFault(its, max);
}

/** The length is in code points, as in JSON Schema. PostgreSQL can store neither NUL nor a lone surrogate. */
function storageFault(its: string, max: number): string | undefined {
  if (its.length > max && Array.from(its).length > max) return `must have at most ${max} characters`;
  if (its.includes('\0')) return 'must not contain a NUL character';
  if (!its.isWellFormed()) return 'must not contain a lone surrogate';
  return undefined;
}

/**
 * Equal for names that differ in case only. Upper case joins ß with ss, and both small sigmas. Lower case comes before it,
 * because ẞ is its own upper case.
 */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}
