import { type Html, html } from '../html.ts';
import type { Ref, Schema } from '../openapi/types.ts';

/** The fields or values of a named schema. */
export function schemaSection(name: string, schema: Schema): Html {
  const required = schema.required ?? [];
  const fields = Object.entries(schema.properties ?? {});
  const rows = fields.map(([field, property]) => {
    const its: Schema = typeof property === 'object' ? property : {};
    return html`<tr><td><code>${field}</code></td><td>${typeName(its)}</td>
<td>${required.includes(field) ? 'yes' : 'no'}</td><td>${its.description}</td></tr>\n`;
  });
  const body =
    fields.length === 0
      ? html`<p>${typeName(schema)}</p>`
      : html`<div class="wide"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th>
<th scope="col">Required</th><th scope="col">Description</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  return html`<h3 id="${name}">${name}</h3>\n<p>${schema.description}</p>\n${body}\n`;
}

/** A type in a few words: a link to a named schema, or the type with its format and constraints. */
export function typeName(schema: Schema | Ref): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1);
    return html`<a href="#${name}">${name}</a>`;
  }
  const { type, format, items, enum: values, minimum, maximum, default: preset }: Schema = schema;
  if (type === 'array' && typeof items === 'object' && !Array.isArray(items)) {
    return html`array of ${typeName(items)}`;
  }
  const facts = [
    format,
    minimum === undefined ? undefined : `from ${minimum}`,
    maximum === undefined ? undefined : `to ${maximum}`,
    preset === undefined ? undefined : `default ${JSON.stringify(preset)}`,
    values === undefined ? undefined : `one of ${values.join(', ')}`,
  ].filter((fact) => fact !== undefined);
  return html`${[String(type), ...facts].join(', ')}`;
}
