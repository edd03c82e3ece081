// Which changes of a description break clients. Contract: section 9 of the specification.

/** An OpenAPI description, or a part of one. */
type Part = Readonly<Record<string, any>>;

/** Bounds of values: the lower ones, and the upper ones. */
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** A new code of an error is compatible. */
const CODE = /\.code$/;

/**
 * What breaks clients of `before` when the service is as `after`, a line each. Operations that `before` marks with a stability may
 * change.
 */
export function findBreaks(before: Part, after: Part): readonly string[] {
  const breaks: string[] = [];
  const note = (place: string, what: string) => void breaks.push(`${place}: ${what}`);
  const was = (part: Part | undefined) => resolve(before, part);
  const is = (part: Part | undefined) => resolve(after, part);

  /** A schema of a request may allow more, that of a response less. */
  function compareSchemas(
    place: string,
    one: Part | undefined,
    other: Part | undefined,
    isSent: boolean,
  ): void {
    const [old, now] = [was(one), is(other)];
    for (const keyword of ['type', 'format', 'pattern']) {
      const isFree = (isSent ? now : old)[keyword] === undefined;
      if (!isFree && old[keyword] !== now[keyword])
        note(place, `${keyword} ${old[keyword]} is now ${now[keyword]}`);
    }
    const [narrow, wide] = isSent ? [old, now] : [now, old];
    for (const keyword of LOWER)
      if ((wide[keyword] ?? -Infinity) > (narrow[keyword] ?? -Infinity))
        note(place, `${keyword} is now ${now[keyword]}`);
    for (const keyword of UPPER)
      if ((wide[keyword] ?? Infinity) < (narrow[keyword] ?? Infinity))
        note(place, `${keyword} is now ${now[keyword]}`);
    const [few, many] = [readValues(narrow), readValues(wide)];
    const extra =
      many === undefined || CODE.test(place)
        ? []
        : (few ?? ['any value']).filter((value) => !many.includes(value));
    if (extra.length > 0) note(place, `${isSent ? 'no longer takes' : 'may now be'} ${extra.join(', ')}`);
    for (const [name, property] of Object.entries<Part>(old['properties'] ?? {})) {
      const next = now['properties']?.[name];
      if (next === undefined) note(`${place}.${name}`, 'the field is gone');
      else compareSchemas(`${place}.${name}`, property, next, isSent);
    }
    const [must, may]: [string[], string[]] = [wide['required'] ?? [], narrow['required'] ?? []];
    for (const name of must.filter((each) => !may.includes(each)))
      note(`${place}.${name}`, isSent ? 'the field is now required' : 'the field may now be absent');
    if (isSent && now['additionalProperties'] === false && old['additionalProperties'] !== false)
      note(place, 'other fields are now refused');
    if (old['items'] !== undefined) compareSchemas(`${place}[]`, old['items'], now['items'], isSent);
  }

  function compareContents(place: string, old: Part, now: Part, isSent: boolean): void {
    for (const [type, { schema }] of Object.entries<Part>(old['content'] ?? {})) {
      const next = now['content']?.[type];
      if (next === undefined) note(place, `${type} is gone`);
      else compareSchemas(place, schema, next.schema, isSent);
    }
  }

  function compareOperations(place: string, old: Part, now: Part): void {
    const parameters = readParameters(now, is);
    for (const [name, parameter] of readParameters(old, was)) {
      const next = parameters.get(name);
      if (next === undefined) note(`${place} ${name}`, 'the parameter is gone');
      else compareSchemas(`${place} ${name}`, parameter['schema'], next['schema'], true);
    }
    for (const [name, { required }] of parameters)
      if (required === true && readParameters(old, was).get(name)?.['required'] !== true)
        note(`${place} ${name}`, 'the parameter is now required');
    const [body, nextBody] = [was(old['requestBody']), is(now['requestBody'])];
    if (nextBody['required'] === true && body['required'] !== true) note(place, 'a body is now required');
    compareContents(`${place} body`, body, nextBody, true);
    const scopes = readScopes(now).filter((scope) => !readScopes(old).includes(scope));
    if (scopes.length > 0) note(place, `needs ${scopes.join(', ')} now`);
    for (const [status, response] of Object.entries<Part>(old['responses'])) {
      const [gave, gives] = [was(response), is(now['responses'][status])];
      if (now['responses'][status] === undefined) note(`${place} ${status}`, 'the response is gone');
      else compareContents(`${place} ${status}`, gave, gives, false);
      for (const name of Object.keys(gave['headers'] ?? {}))
        if (gives['headers']?.[name] === undefined) note(`${place} ${status} ${name}`, 'the header is gone');
    }
  }

  for (const [path, item] of Object.entries<Part>(before['paths']))
    for (const method of METHODS.filter((each) => item[each] !== undefined)) {
      const [old, now] = [item[method], after['paths'][path]?.[method]];
      const place = `${method.toUpperCase()} ${path}`;
      if (old['x-stability'] !== undefined) continue;
      if (now === undefined) note(place, 'the operation is gone');
      else compareOperations(place, old, now);
    }
  return breaks;
}

/** A part behind its references, with what `allOf` adds. */
function resolve(document: Part, part: Part = {}): Part {
  if (typeof part['$ref'] === 'string') {
    const names = part['$ref'].split('/').slice(1);
    const target = names.reduce((each: Part, name) => each[name.replaceAll('~1', '/')], document);
    return resolve(document, target);
  }
  const { allOf = [], ...own } = part;
  const merged: Record<string, any> = {};
  for (const each of [...allOf.map((one: Part) => resolve(document, one)), own])
    Object.assign(merged, each, { properties: { ...merged['properties'], ...each.properties } });
  return merged;
}

/** The values that a schema lists, as JSON. */
function readValues({ const: only, enum: values }: Part): string[] | undefined {
  const listed = only === undefined ? values : [only];
  return listed?.map((value: unknown) => JSON.stringify(value));
}

function readParameters(operation: Part, find: (part: Part) => Part): ReadonlyMap<string, Part> {
  const found: Part[] = (operation['parameters'] ?? []).map(find);
  return new Map(found.map((each) => [`${each['in']} ${each['name']}`, each]));
}

function readScopes({ security = [] }: Part): string[] {
  return security.flatMap((each: Part) => Object.values(each).flat());
}
