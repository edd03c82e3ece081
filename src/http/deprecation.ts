// Contract: sections 3 and 9.
import { type Fields, fields } from './fields.ts';

/** `getPet` is deprecated and will be removed. */
export const GET_PET = {
  deprecatedAt: Date.UTC(2025, 11, 5),
  /** Unix milliseconds: from this instant on it answers 410. */
  removedAt: Date.UTC(2030, 11, 5),
} as const;

/** The removal date as it is written in the description: `2030-12-05`. */
export const GET_PET_SUNSET = new Date(GET_PET.removedAt).toISOString().slice(0, 10);

/** The address of the reference beside a base address that ends in `/v1`. */
export function referenceUrl(base: string): string {
  return base.replace(/\/v1$/, '/reference');
}

/** The headers of every response of `getPet` (RFC 9745, RFC 8594, RFC 8288). */
export function deprecationHeaders(base: string): Fields {
  return fields(
    'Deprecation',
    `@${GET_PET.deprecatedAt / 1000}`,
    'Sunset',
    new Date(GET_PET.removedAt).toUTCString(),
    'Link',
    `<${referenceUrl(base)}>; rel="deprecation", <${base}/pets>; rel="successor-version"`,
  );
}
