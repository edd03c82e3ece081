import { hash } from 'node:crypto';

/** A strong entity tag of exactly these bytes (RFC 9110 §8.8.3). */
export function entityTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/** Whether `If-None-Match` names the tag, so that 304 is the answer (RFC 9110 §13.1.2, weak comparison). */
export function noneMatchNames(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
