import type { Answer } from './exchange.ts';

/** The target of the first link with this relation in a `Link` header (RFC 8288), or undefined. */
export function linkTarget(headers: Headers, relation: string): string | undefined {
  for (const [, target, parameters = ''] of (headers.get('link') ?? '').matchAll(
    /<([^>]*)>((?:\s*;[^,"]*(?:"[^"]*")?)*)/g,
  )) {
    const relations = /;\s*rel="?([^";]*)"?/i.exec(parameters)?.[1] ?? '';
    if (relations.toLowerCase().split(' ').includes(relation)) return target;
  }
  return undefined;
}

/** The cursor of the link to the next page, in the query parameter `parameter`. Undefined when there is no link. */
export function nextCursor({ headers }: Pick<Answer, 'headers'>, parameter: string): string | undefined {
  const next = linkTarget(headers, 'next');
  if (next === undefined) return undefined;
  const cursor = new RegExp(`[?&]${parameter}=([^&#]+)`).exec(next)?.[1];
  if (cursor === undefined) throw new TypeError('The link to the next page has no cursor.');
  return decodeURIComponent(cursor);
}
