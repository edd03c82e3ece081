import { linkTarget } from './link.ts';
import type { Logger } from './logger.ts';
import { httpDate } from './retry-timing.ts';

/** The deprecation of an operation (RFC 9745, RFC 8594). */
export interface Deprecation {
  /** Its `operationId`: `getPet`. */
  readonly operation: string;
  readonly deprecatedAt: Date | undefined;
  /** The operation answers 410 from then on. Undefined when there is no date yet. */
  readonly removedAt: Date | undefined;
  /** The address of more information. */
  readonly link: string | undefined;
}

/** The deprecation in the headers of an answer, or undefined. */
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

/** The default of `onDeprecation`. Warns once for each operation, even in a program with many clients. */
export function warnOnce({ operation, removedAt, link }: Deprecation, logger: Logger | undefined): void {
  if (warned.has(operation)) return;
  warned.add(operation);
  const until =
    removedAt === undefined ? '' : ` and will be removed on ${removedAt.toISOString().slice(0, 10)}`;
  const more = link === undefined ? '' : ` See ${link}`;
  const line = `petstore-client: ${operation} is deprecated${until}.${more}`;
  if (logger === undefined) console.warn(line);
  else logger.warn(line, { operation });
}
