import type { Ref, Schema } from '../../description/types.ts';
import { Html, html } from '../shared/html.ts';
import { renderInline } from './markdown.ts';

/** The schemas of a description, by name. */
export type Schemas = Readonly<Record<string, Schema>>;

/** A field or a parameter in a list: everything about it in plain sight. */
interface Fact {
  readonly id?: string | undefined;
  readonly name: string;
  readonly schema: Schema | Ref;
  /** What tells the bounds, if `schema` only names it. */
  readonly bounds?: Schema;
  readonly isRequired: boolean;
  readonly description: string;
  readonly location?: string | undefined;
}

/** Fields or parameters, one below the other. */
export function factList(facts: readonly Fact[]): Html {
  return html`<dl class="fields">${facts.map(
    ({ id, name, schema, bounds = schema, isRequired, description, location }) => html`
<dt${id === undefined ? undefined : html` id="${id}"`}><code>${name}</code> <span class="type">${describeType(schema)}</span>${location && html` <span class="muted">${location}</span>`}${isRequired ? html` <strong class="required">required</strong>` : undefined}</dt>
<dd>${new Html(renderInline(description))}${boundList(bounds)}</dd>`,
  )}</dl>`;
}

/** The fields of a schema, which can be linked if the schema has a name here. */
export function fieldList(schema: Schema, schemas: Schemas, name?: string): Html {
  const { properties = {}, required = [] } = schema;
  const facts = Object.entries(properties).map(([field, property]) => {
    const member: Schema = typeof property === 'object' ? property : {};
    const values = resolveValues(member, schemas);
    return {
      id: name === undefined ? undefined : `${name}.${field}`,
      name: field,
      schema: member,
      bounds: values ?? member,
      isRequired: required.includes(field),
      description: member.description ?? values?.description ?? '',
    };
  });
  return facts.length === 0 ? html`<p>${describeType(schema)}</p>${boundList(schema)}` : factList(facts);
}

/** The schema that a field names, if it lists values: these are short enough to repeat. */
function resolveValues({ $ref }: Schema, schemas: Schemas): Schema | undefined {
  const schema = schemas[$ref?.split('/').at(-1) ?? ''];
  return schema?.enum === undefined ? undefined : schema;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A type in a few words. A name leads to its schema. */
export function describeType(schema: Schema | Ref): Html {
  const { $ref } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return html`<a href="#${name}">${name}</a>`;
  }
  const { type, format, items, anyOf, oneOf, allOf }: Schema = schema;
  const members = [...(anyOf ?? oneOf ?? allOf ?? [])].filter(isSchema);
  if (members.length > 0)
    return html`${members.map((member, index) => html`${index === 0 ? '' : ' or '}${describeType(member)}`)}`;
  if (type === 'array' && isSchema(items)) return html`array of ${describeType(items)}`;
  return html`${[type ?? 'any'].flat().join(' or ')}${format === undefined ? undefined : html` (${format})`}`;
}

/** The values that a schema allows, its default and its bounds, as lines. */
function boundList(schema: Schema | Ref): Html | undefined {
  if (schema.$ref !== undefined) return undefined;
  const { items, ...rest }: Schema = schema;
  const { enum: values, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = rest;
  const preset = rest.default;
  const codes = (all: readonly unknown[]) =>
    all.map((value, index) => html`${index === 0 ? '' : ', '}<code>${String(value)}</code>`);
  const range = (low: number | undefined, high: number | undefined, unit: string) => {
    if (low === undefined && high === undefined) return undefined;
    const bounds =
      low === undefined ? `at most ${high}` : high === undefined ? `at least ${low}` : `${low} to ${high}`;
    return html`<li>${bounds}${unit}</li>`;
  };
  const isConstant = rest.const !== undefined;
  const lines = [
    isConstant && rest.description?.includes(JSON.stringify(rest.const)) !== true
      ? html`<li>always <code>${JSON.stringify(rest.const)}</code></li>`
      : undefined,
    values === undefined ? undefined : html`<li>one of ${codes(values)}</li>`,
    preset === undefined ? undefined : html`<li>default <code>${JSON.stringify(preset)}</code></li>`,
    isConstant ? undefined : range(minimum, maximum, ''),
    values === undefined ? range(minLength, maxLength, ' characters') : undefined,
    range(minItems, maxItems, ' values'),
    pattern === undefined ? undefined : html`<li>matches <code>${pattern}</code></li>`,
  ].filter((line) => line !== undefined);
  const inner = isSchema(items) ? boundList(items) : undefined;
  return html`${lines.length === 0 ? undefined : html`<ul class="bounds">${lines}</ul>`}${inner}`;
}
