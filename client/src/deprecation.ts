import { linkTarget } from './link.ts';
import { httpDate } from './retry-timing.ts';

/** What the service tells of a deprecated operation (RFC 9745, RFC 8594). */
export interface Deprecation {
  /** Its `operationId`: `getPet`. */
  readonly operation: string;
  readonly deprecatedAt: Date | undefined;
  /** From when on it answers 410, if that is known. */
  readonly removedAt: Date | undefined;
  /** Where to read more. */
  readonly link: string | undefined;
}

/** The deprecation that the headers of an answer tell, or undefined. */
export function readDeprecation(operation: string, headers: Headers): Deprecation | undefined {
  const value = headers.get('deprecation');
  if (value === null) return undefined;
  const seconds = /^@(\d+)$/.exec(value)?.[1];
  const removedAt = httpDate(headers.get('sunset'));
  return {
    operation,
    deprecatedAt: seconds === undefined ? undefined : new Date(Number(seconds) * 1000),
    removedAt: removedAt === undefined ? undefined : new Date(removedAt),
    link: linkTarget(headers, 'deprecation'),
  };
}

const warned = new Set<string>();

/** What `onDeprecation` does unless it is set: one line for each operation, however many clients a program makes. */
export function warn({ operation, removedAt, link }: Deprecation): void {
  if (warned.has(operation)) return;
  warned.add(operation);
  const until =
    removedAt === undefined ? '' : ` and will be removed on ${removedAt.toISOString().slice(0, 10)}`;
  const more = link === undefined ? '' : ` See ${link}`;
  console.warn(`petstore-client: ${operation} is deprecated${until}.${more}`);
}
