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
