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
  readonly isRequired: boolean;
  readonly description: string;
  readonly location?: string | undefined;
}

/** Fields or parameters, one below the other. */
export function factList(facts: readonly Fact[], schemas: Schemas): Html {
  return html`<dl class="fields">${facts.map(({ id, name, schema, isRequired, description, location }) => {
    const values = resolveValues(schema, schemas);
    return html`
<dt${id === undefined ? undefined : html` id="${id}"`}><code>${name}</code> <span class="type">${describeType(schema)}</span>${location && html` <span class="muted">${location}</span>`}${isRequired ? html` <strong class="required">required</strong>` : undefined}</dt>
<dd>${new Html(renderInline(description || (values.description ?? '')))}${boundList(values)}</dd>`;
  })}</dl>`;
}

/** The fields of a schema, which can be linked if the schema has a name here. */
export function fieldList(schema: Schema, schemas: Schemas, name?: string): Html {
  const facts = listFields(schema, name);
  return facts.length === 0
    ? html`<p>${describeType(schema)}</p>${boundList(resolveValues(schema, schemas))}`
    : factList(facts, schemas);
}

function listFields({ properties = {}, required = [] }: Schema, owner?: string) {
  return Object.entries(properties).map(([name, property]) => {
    const schema: Schema = isSchema(property) ? property : {};
    return {
      id: owner === undefined ? undefined : `${owner}.${name}`,
      name,
      schema,
      isRequired: required.includes(name),
      description: schema.description ?? '',
    };
  });
}

/** The objects that an answer holds, each with its fields, so that nobody must look them up elsewhere. */
export function attributeLists(schema: Schema | Ref, schemas: Schemas): Html {
  const names = namedObjects(schema, schemas);
  // Of several only one comes, and they are long.
  const isOpen = names.length === 1 ? html` open` : undefined;
  return html`${names.map(
    (name) =>
      html`<details class="attributes"${isOpen}><summary>Attributes of ${name}</summary>${attributeList(schemas[name] ?? {}, schemas)}</details>`,
  )}`;
}

/** What readers of an answer need: each attribute, its values, and the attributes of an object in it. */
function attributeList(schema: Schema, schemas: Schemas, isInner = false): Html {
  return html`<dl class="fields">${listFields(schema).map(
    ({ name, schema: held, isRequired, description }) => {
      const values = resolveValues(held, schemas);
      const listed: Schema = isSchema(values.items) ? values.items : values;
      const inner = isInner ? [] : namedObjects(held, schemas);
      return html`
<dt><code>${name}</code> <span class="type">${describeType(held)}${isRequired ? '' : ', may be absent'}</span></dt>
<dd>${new Html(renderInline(description || (values.description ?? '')))}${listed.enum && boundList({ enum: listed.enum })}${inner.map((object) => attributeList(schemas[object] ?? {}, schemas, true))}</dd>`;
    },
  )}</dl>`;
}

function lookUp({ $ref }: Schema | Ref, schemas: Schemas): Schema | undefined {
  return schemas[$ref?.split('/').at(-1) ?? ''];
}

/** The members of a choice, or the schema alone, without `null`. */
function listChoices(schema: Schema | Ref): readonly Schema[] {
  const { anyOf, oneOf } = schema as Schema;
  return (anyOf ?? oneOf ?? [schema]).filter(isSchema).filter(({ type }) => type !== 'null');
}

/** The names of the objects that a schema leads to: itself, the items of a list, the members of a choice. */
function namedObjects(schema: Schema | Ref, schemas: Schemas): readonly string[] {
  return listChoices(schema).flatMap((choice) => {
    const named = lookUp(choice, schemas);
    const { type, items, properties, anyOf, oneOf } = named ?? choice;
    if (type === 'array') return isSchema(items) ? namedObjects(items, schemas) : [];
    if (named === undefined) return [];
    if ((anyOf ?? oneOf) !== undefined) return namedObjects(named, schemas);
    return properties === undefined ? [] : [choice.$ref?.split('/').at(-1) ?? ''];
  });
}

/** What tells the bounds of a field: behind a name if that lists values, which are short enough to repeat, and past `null`. */
export function resolveValues(schema: Schema | Ref, schemas: Schemas): Schema {
  const [choice, ...others] = listChoices(schema);
  if (choice === undefined || others.length > 0) return {};
  const named = lookUp(choice, schemas);
  if (named?.enum !== undefined) return { ...named, ...choice };
  const { items } = choice;
  return isSchema(items) ? { ...choice, items: resolveValues(items, schemas) } : choice;
}

/** The one expression that people must know of and that no description says. */
const NOT_BLANK = String.raw`\S`;

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

/** The values that a schema allows, its default and its bounds, as lines. Expressions are for programs. */
function boundList({ items, ...rest }: Schema): Html | undefined {
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
    pattern === NOT_BLANK ? html`<li>not only white space</li>` : undefined,
  ].filter((line) => line !== undefined);
  const inner = isSchema(items) ? boundList(items) : undefined;
  return html`${lines.length === 0 ? undefined : html`<ul class="bounds">${lines}</ul>`}${inner}`;
}
