// Contract: sections 2 and 3.
import { hash } from 'node:crypto';

declare const content: unique symbol;

/** A value in the form in which clients get it. */
export type Json<T> = string & { readonly [content]: T };

/** A value as JSON with exact int64, the members of objects in their order. Those that are undefined are left out. */
export function toJson<T>(value: T): Json<T> {
  return encode(value) as Json<T>;
}

function encode(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(encode).join(',')}]`;
  let members = '';
  for (const [name, member] of Object.entries(value))
    if (member !== undefined)
      members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${encode(member)}`;
  return `{${members}}`;
}

/** A strong entity tag of exactly these bytes (RFC 9110, section 8.8.3). */
export function entityTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/** Whether `If-Match` holds for content with this JSON, by strong comparison. Without the header it holds. */
export function isCurrent(ifMatch: readonly string[] | undefined, json: string): boolean {
  return ifMatch === undefined || ifMatch.includes('*') || ifMatch.includes(entityTag(json));
}
