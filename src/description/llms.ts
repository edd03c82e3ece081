import type { Description } from './openapi.ts';

/** An index of the documentation for language models (https://llmstxt.org), beside the base address `base`. */
export function llmsText({ info, servers, paths }: Description, base: string): string {
  const beside = (page: string) => new URL(`../${page}`, `${base}/`).href;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { summary, deprecated, 'x-stability': stability }]) => {
      const mark = deprecated === true ? 'deprecated' : stability;
      const note = mark === undefined ? '' : ` (${mark})`;
      return `- \`${method.toUpperCase()} ${path}\`: ${summary}${note}`;
    }),
  );
  return `# ${info.title} API

> ${info.summary}

Version ${info.version}. Every request needs an API key: \`Authorization: Bearer <API_KEY>\`. Base addresses:

${servers.map(({ url, description }) => `- ${description}: ${url}`).join('\n')}

Operations:

${operations.join('\n')}

## Documentation

- [Reference](${beside('reference.md')}): guide, operations, error codes and schemas as Markdown
- [OpenAPI description](${beside('openapi.json')}): the same for tools

## Optional

- [OpenAPI description as YAML](${beside('openapi.yaml')})
- [Reference as a page](${beside('reference')}): to read and to try out
`;
}
