// Contract: sections 2 and 3.
import { hash } from 'node:crypto';
import type { Written } from './ports.ts';

/** A value as JSON with exact int64, the members of objects in their order. Those that are undefined are left out. */
export function toJson<T>(value: T): Written<T> {
  return jsonOf(value) as Written<T>;
}

function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  return `{${Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`)
    .join(',')}}`;
}

/** A strong entity tag of exactly these bytes (RFC 9110, section 8.8.3). */
export function entityTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/** Whether `If-Match` holds for content with this JSON, by strong comparison. Without the header it holds. */
export function isCurrent(ifMatch: readonly string[] | undefined, json: string): boolean {
  return ifMatch === undefined || ifMatch.includes('*') || ifMatch.includes(entityTag(json));
}
