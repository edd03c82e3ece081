import type { Content, Parameter, Ref, Response, Schema } from './types.ts';
import type { Description } from './openapi.ts';
import type { OperationObject } from './operations.ts';
import { code, fence, table } from './markdown.ts';

/** The reference as Markdown, made from the description alone: for programs, and for the page without JavaScript. */
export function referenceMarkdown(description: Description): string {
  const { info, servers, tags, paths, components, webhooks } = description;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
  const blocks = [
    `# ${info.title} API ${info.version}`,
    servers.map(({ url, description: name }) => `- ${name}: ${code(url)}`).join('\n'),
    info.description,
  ];
  for (const { name, description: text } of tags) {
    blocks.push(`## ${name}`, text);
    for (const { method, path, operation } of operations) {
      if (operation.tags.includes(name)) blocks.push(...operationBlocks(components, method, path, operation));
    }
  }
  blocks.push(
    '## Types of events',
    table(
      ['Type', 'Comes when'],
      Object.entries(webhooks).map(([type, { post }]) => [code(type), post.description]),
    ),
    '## Schemas',
  );
  for (const [name, schema] of Object.entries(components.schemas)) blocks.push(...schemaBlocks(name, schema));
  return `${blocks.join('\n\n')}\n`;
}

function operationBlocks(
  components: Description['components'],
  method: string,
  path: string,
  operation: OperationObject,
): string[] {
  const { operationId, summary, description, requestBody, responses, security = [], parameters } = operation;
  const scopes = security.flatMap((requirement) => Object.values(requirement).flat());
  const scope = scopes.length === 0 ? undefined : `scope ${scopes.join(', ')}`;
  const remarks = [operationId, scope, operation['x-stability']].filter((remark) => remark !== undefined);
  return [
    `### ${summary}`,
    `${code(`${method.toUpperCase()} ${path}`)} (${remarks.join('; ')})`,
    description,
    table(
      ['Parameter', 'In', 'Type', 'Description'],
      parameters.map((ref) => parameterRow(resolve(components.parameters, ref))),
    ),
    ...(requestBody === undefined
      ? []
      : [
          `Request body (${Object.keys(requestBody.content).map(code).join(' or ')}), required: ${requestBody.description}`,
          ...contentBlocks(requestBody.content),
        ]),
    ...Object.entries(responses).flatMap(([status, response]) => responseBlocks(status, response)),
    ...(operation['x-codeSamples'] ?? []).flatMap(({ label, lang, source }) => [
      `#### ${label}`,
      fence(lang.toLowerCase(), source),
    ]),
  ];
}

function parameterRow({ name, in: location, required, schema, description }: Parameter): string[] {
  return [code(name), required === true ? `${location}, required` : location, typeName(schema), description];
}

function responseBlocks(status: string, { description, headers, content }: Response): string[] {
  return [
    `#### ${status}`,
    description,
    `Headers: ${Object.keys(headers).map(code).join(', ')}`,
    ...(content === undefined ? [] : contentBlocks(content)),
  ];
}

function contentBlocks(content: Content): string[] {
  const { schema, examples } = content['application/json'];
  return [
    ...(schema.$ref === undefined ? [] : [`Body: ${typeName(schema)}`]),
    ...Object.values(examples).flatMap(({ summary, value }) => [
      `${summary}:`,
      fence('json', JSON.stringify(value)),
    ]),
  ];
}

function schemaBlocks(name: string, schema: Schema): string[] {
  const required = schema.required ?? [];
  const rows = Object.entries(schema.properties ?? {}).map(([field, property]) => {
    const member: Schema = typeof property === 'object' ? property : {};
    return [code(field), typeName(member), required.includes(field) ? 'yes' : 'no', member.description ?? ''];
  });
  const body =
    rows.length === 0 ? typeName(schema) : table(['Field', 'Type', 'Required', 'Description'], rows);
  return [`### ${name}`, schema.description ?? '', body];
}

/** A type in a few words: the name of a schema, or the type with its format and its bounds. */
function typeName(schema: Schema | Ref): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  const { type, format, items, enum: values, minimum, maximum, default: preset }: Schema = schema;
  if (type === 'array' && typeof items === 'object' && !Array.isArray(items)) {
    return `array of ${typeName(items)}`;
  }
  return [
    String(type),
    format,
    minimum === undefined ? undefined : `from ${minimum}`,
    maximum === undefined ? undefined : `to ${maximum}`,
    preset === undefined ? undefined : `default ${JSON.stringify(preset)}`,
    values === undefined ? undefined : `one of ${values.join(', ')}`,
  ]
    .filter((fact) => fact !== undefined)
    .join(', ');
}

function resolve(parameters: Readonly<Record<string, Parameter>>, { $ref }: Ref): Parameter {
  const found = parameters[$ref.slice('#/components/parameters/'.length)];
  if (found === undefined) throw new Error(`The description has no ${$ref}.`);
  return found;
}
