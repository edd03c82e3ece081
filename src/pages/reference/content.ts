import samplesInMoreLanguages from './samples.json' with { type: 'json' };
import { EXAMPLE_URLS } from '../../config/config.ts';
import type { Description } from '../../description/openapi.ts';
import type { OperationObject } from '../../description/operations.ts';
import type { Content, Header, Headers, Parameter, Ref, Response, Schema } from '../../description/types.ts';
import { mapInParts, type Parts } from '../../domain/parts.ts';
import { ICON } from '../shared/hashed-files.ts';
import { Html, html } from '../shared/html.ts';
import {
  compileGrammars,
  highlight,
  type Language,
  labelLanguage,
  type Passage,
  renderInline,
  renderText,
  type Sample,
  slugify,
  splitPages,
} from './markdown.ts';
import { attributeLists, describeType, factList, fieldList, resolveValues, type Schemas } from './schema.ts';

/** An operation where it stands in the API. */
interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** What many operations have in common, and each of them need not repeat. */
interface Common {
  /** What those errors say that most operations have in the same words. */
  readonly errors: ReadonlySet<string>;
  /** The names of the headers that every operation takes. */
  readonly requestHeaders: ReadonlySet<string>;
  /** The names of the headers that every response has. */
  readonly responseHeaders: ReadonlySet<string>;
}

function findCommon(operations: readonly PlacedOperation[]): Common {
  const responses = operations.flatMap(({ operation }) => Object.values(operation.responses));
  const says = responses.flatMap(({ content }) =>
    Object.values(content?.['application/json'].examples ?? {}).map(({ summary }) => summary),
  );
  const times = Map.groupBy(says, (summary) => summary);
  const inAll = (lists: readonly (readonly string[])[]) =>
    new Set((lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name))));
  return {
    errors: new Set(says.filter((summary) => (times.get(summary)?.length ?? 0) * 2 >= operations.length)),
    requestHeaders: inAll(operations.map(({ operation }) => operation.parameters.map(nameInRef))),
    responseHeaders: inAll(responses.map(({ headers }) => Object.keys(headers))),
  };
}

const nameInRef = ({ $ref }: Ref) => $ref.split('/').at(-1) ?? '';

/** The whole reference as HTML: complete without a script. `base` is the folder of the files of the page. */
export function* referenceContent(description: Description, server: string, base: string): Parts<Html> {
  const { info, tags, paths, components, servers } = description;
  const site = new URL('../', `${server}/`).href;
  // The page may be open under another name of the host, and a link or a picture stays there.
  const localize = (text: string) => text.replaceAll(`](${site}`, '](');
  yield* compileGrammars();
  const pages = yield* splitPages(localize(info.description));
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: { ...operation, description: localize(operation.description) },
    })),
  );
  const common = findCommon(operations);
  const groups = tags.map(({ name, description: text }) => ({
    name,
    text,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const schemas = Object.entries(components.schemas);
  const links = (entries: readonly (readonly [id: string, text: string | Html])[]) =>
    html`<ul>${entries.map(([id, text]) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>`;
  const guide: Html[] = [];
  for (const { slug, title, passages } of pages) {
    const pairs = yield* mapInParts([...passages.entries()], ([index, passage]) =>
      pair(`${slug}-${index + 1}`, passage),
    );
    guide.push(section(slug, title, html`${pairs}`));
  }
  guide.push(section('headers', 'Headers', headerLists(description, operations, common)));
  const sections = new Map<PlacedOperation, Html>();
  for (const member of operations) {
    const groupStability = sharedStability(
      groups.find(({ operations: members }) => members.includes(member))?.operations ?? [],
    );
    sections.set(member, operationSection(member, { ...components, common, server, groupStability }));
    yield;
  }
  const schemaSections = yield* mapInParts(schemas, ([name, schema]) =>
    schemaSection(name, schema, components.schemas),
  );
  return html`<a class="skip" href="#content">Go to the content</a>
<header class="top"><div>
<a class="brand" href="reference"><img src="${base}${ICON.name}" width="24" height="24" alt="">Pet Store</a>
<nav aria-label="Pages"><a href="dashboard">Dashboard</a><a href="reference" aria-current="page">Reference</a></nav>
<aside aria-label="Tools"><button type="button" id="search" hidden>Search <kbd>/</kbd></button><button type="button" id="theme" hidden>Dark</button></aside>
</div></header>
<div class="reference">
<details class="contents" open><summary>Contents</summary><nav aria-label="Contents">
<h2>Guide</h2>
${links([...pages.map(({ slug, title }) => [slug, title] as const), ['headers', 'Headers']])}
${groups.map(
  ({ name, operations: members }) => html`<h2>${name}</h2>
${links(
  members.map(({ method, operation }) => [
    operation.operationId,
    html`<span class="method ${method.toLowerCase()}">${method}</span> ${operation.deprecated === true ? html`<del>${operation.summary}</del>` : operation.summary}`,
  ]),
)}`,
)}
<h2>Webhook events</h2>
${links([['events', 'Types of events']])}
<h2>Schemas</h2>
${links(schemas.map(([name]) => [name, name]))}
</nav></details>
<main id="content" tabindex="-1" data-server="${server}" data-servers="${JSON.stringify(servers.map(({ url, description: name }) => ({ url, name })))}">
<h1>${info.title} API <span class="muted">${info.version}</span></h1>
${guide}
${groups.map(
  ({
    name,
    text,
    operations: members,
  }) => html`<section class="group"><h2 id="group-${slugify(name)}">${name}${stabilityBadge(sharedStability(members))}</h2>
<div class="prose">${new Html(renderText(localize(text)))}</div></section>
${members.map((member) => sections.get(member))}`,
)}
${section('events', 'Types of events', eventTypes(description))}
<section class="group"><h2 id="schemas">Schemas</h2></section>
${schemaSections}
<footer class="muted"><p><a href="reference.md">This page as Markdown</a> · <a href="openapi.json">openapi.json</a> · <a href="openapi.yaml">openapi.yaml</a> · <a href="llms.txt">llms.txt</a></p></footer>
</main></div>`;
}

function section(id: string, title: string | Html, content: Html, className = 'page'): Html {
  return html`<section class="${className}" id="${id}" data-title="${title instanceof Html ? '' : title}"><h2><a href="#${id}">${title}</a></h2>${content}</section>\n`;
}

/** Samples between the texts before and after them, as a phone shows it. Beside both, where there is room. */
function pair(name: string, { text, samples, rest }: Passage): Html {
  return html`<div class="pair"><div class="prose">${new Html(text)}</div><div class="aside">${sampleBox(name, samples)}</div>${rest === '' ? undefined : html`<div class="prose">${new Html(rest)}</div>`}</div>`;
}

/** The badge of an operation, or of a group whose operations all have it. */
function stabilityBadge(stability: string | undefined): Html | undefined {
  return stability === undefined
    ? undefined
    : html` <a class="badge" href="#beta-and-experimental">${stability}</a>`;
}

/** The stability that all of these have. */
function sharedStability(operations: readonly PlacedOperation[]): string | undefined {
  const [first, ...others] = operations.map(({ operation }) => operation['x-stability']);
  return others.every((stability) => stability === first) ? first : undefined;
}

/** Samples of which one is shown: those of one language, or examples of one answer. No other box has this name. */
function sampleBox(name: string, samples: readonly Sample[], labels?: readonly string[]): Html | undefined {
  if (samples.length === 0) return undefined;
  const panes = samples.map(({ language, source }, index) => {
    const label = labels?.[index] ?? labelLanguage(language);
    return html`<label><input type="radio" name="${name}" value="${label}"${index === 0 ? html` checked` : undefined}>${label}</label><pre tabindex="0"><code>${new Html(highlight(language, source))}</code></pre>`;
  });
  const kind = labels === undefined ? 'code' : 'answers';
  return html`<fieldset class="samples ${kind}"><legend class="hidden-text">${kind === 'code' ? 'Languages' : 'Examples'}</legend>${panes}</fieldset>`;
}

/** What an operation is shown with. */
interface Context {
  readonly parameters: Description['components']['parameters'];
  readonly schemas: Schemas;
  readonly common: Common;
  readonly server: string;
  /** The stability that its group shows. */
  readonly groupStability: string | undefined;
}

function operationSection(
  { method, path, operation }: PlacedOperation,
  { parameters, schemas, common, server, groupStability }: Context,
): Html {
  const { operationId, summary, description, deprecated, requestBody, responses } = operation;
  const stability = operation['x-stability'];
  const placed = operation.parameters.map((ref) => parameters[nameInRef(ref)]);
  const own = placed.filter((parameter) => parameter !== undefined);
  const [headers, others] = [
    own.filter(({ in: location, name }) => location === 'header' && !common.requestHeaders.has(name)),
    own.filter(({ in: location }) => location !== 'header'),
  ];
  const examples = requestBody?.content['application/json'].examples ?? {};
  const badges = html`${stabilityBadge(stability === groupStability ? undefined : stability)}${deprecated === true ? html` <span class="badge warn">deprecated</span>` : undefined}`;
  const statuses = Object.entries(responses);
  const [successes, refusals] = [
    statuses.filter(([status]) => status < '400'),
    statuses.filter(([status]) => status >= '400'),
  ];
  const text = html`<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>${badges}</p>
<div class="prose">${new Html(renderText(description))}</div>
${others.length === 0 ? undefined : html`<h3>Parameters</h3>${parameterList(others, schemas)}`}
${requestBody && html`<h3>Body</h3><p>${new Html(renderInline(requestBody.description))} ${bodyType(requestBody.content)}</p>${bodyFields(requestBody.content, schemas)}`}
${headers.length === 0 ? undefined : html`<h3>Headers</h3>${parameterList(headers, schemas)}`}
<h3>Answers</h3>${successes.map((success, index) => answer(success, schemas, index === 0 ? common : undefined))}
<h3>Errors</h3>${errorList(refusals, common)}`;
  const answers = successes.flatMap(([status, response]) =>
    Object.values(response.content?.['application/json'].examples ?? {}).map(({ summary: label, value }) => ({
      label: `${status} ${label}`,
      sample: { language: 'json' as const, source: JSON.stringify(value, null, 2) },
    })),
  );
  const aside = html`${sampleBox(`${operationId}-samples`, operationSamples(operation, server))}
${sampleBox(
  `${operationId}-answers`,
  answers.map(({ sample }) => sample),
  answers.map(({ label }) => label),
)}
${tryForm(method, path, own, schemas, Object.values(examples)[0]?.value, requestBody === undefined ? undefined : Object.keys(requestBody.content)[0])}`;
  return section(
    operationId,
    summary,
    html`<div class="pair"><div>${text}</div><div class="aside">${aside}</div></div>`,
    'page operation',
  );
}

function parameterList(parameters: readonly Parameter[], schemas: Schemas): Html {
  return factList(
    parameters.map(({ name, in: location, schema, required, description }) => ({
      name,
      schema,
      description,
      isRequired: required === true,
      location: location === 'header' ? undefined : `in the ${location}`,
    })),
    schemas,
  );
}

/** The headers of all operations: those that may be sent, those of every response, and those of some. */
function headerLists(
  { components }: Description,
  operations: readonly PlacedOperation[],
  { responseHeaders }: Common,
): Html {
  const sent = Object.values(components.parameters).filter(({ in: location }) => location === 'header');
  const descriptions = new Map<string, Set<string>>();
  const responses = operations.flatMap(({ operation }) => Object.values(operation.responses));
  for (const [name, header] of responses.flatMap(({ headers }) => Object.entries(headers))) {
    const texts = descriptions.get(name) ?? new Set();
    descriptions.set(name, texts.add(readHeader(header, components.headers).description));
  }
  const list = (names: readonly string[]) =>
    html`<dl class="fields">${names.map(
      (name) => html`
<dt id="Header.${name}"><code>${name}</code></dt><dd>${new Html(renderInline([...(descriptions.get(name) ?? [])].join(' Or: ')))}</dd>`,
    )}</dl>`;
  const names = [...descriptions.keys()];
  return html`<div class="pair"><div>
<h3>In requests</h3>${parameterList(sent, components.schemas)}
<h3>In some answers</h3>${list(names.filter((name) => !responseHeaders.has(name)))}
</div><div><h3>In every answer</h3>${list(names.filter((name) => responseHeaders.has(name)))}</div></div>`;
}

function readHeader(header: Header | Ref, headers: Readonly<Record<string, Header>>): Header {
  if (!('$ref' in header)) return header;
  const found = headers[nameInRef(header)];
  if (found === undefined) throw new Error(`There is no header ${header.$ref}.`);
  return found;
}

function bodyType(content: Content): Html {
  return html`${describeType(content['application/json'].schema)}, as ${Object.keys(content).map(
    (type, index) => html`${index === 0 ? '' : ' or '}<code>${type}</code>`,
  )}.`;
}

function bodyFields(content: Content, schemas: Schemas): Html | undefined {
  const schema = schemas[content['application/json'].schema.$ref?.split('/').at(-1) ?? ''];
  return schema && fieldList(schema, schemas);
}

/** The samples of the description, and those in languages that need a generator. */
function operationSamples(operation: OperationObject, server: string): readonly Sample[] {
  const more: Readonly<Partial<Record<string, Readonly<Record<string, string>>>>> = samplesInMoreLanguages;
  return [
    ...(operation['x-codeSamples'] ?? []).map(({ lang, source }) => ({
      language: (lang === 'Shell' ? 'sh' : lang.toLowerCase()) as Language,
      source,
    })),
    ...Object.entries(more[operation.operationId] ?? {}).map(([language, source]) => ({
      language: language as Language,
      source: addressSample(source, server),
    })),
  ];
}

/** The generator knows one base address only, which has TLS. */
export function addressSample(source: string, server: string): string {
  const addressed = source.trim().replaceAll(EXAMPLE_URLS.production, server);
  return server.startsWith('https:') ? addressed : addressed.replace('http.use_ssl = true\n', '');
}

function headerNames(headers: Headers, { responseHeaders }: Common): Html {
  const own = Object.keys(headers).filter((name) => !responseHeaders.has(name));
  return html`<p class="headers">Headers: ${own.map((name) => html`<a href="#Header.${name}"><code>${name}</code></a>, `)}<a href="#headers">those of every answer</a></p>`;
}

/** A success. Its headers are named if `common` is given: a 304 has those of the 200. */
function answer(
  [status, { description, content, headers }]: readonly [string, Response],
  schemas: Schemas,
  common?: Common,
): Html {
  const schema = content?.['application/json'].schema;
  return html`<div class="answer"><p><strong>${status}</strong> ${new Html(renderInline(description))}${schema && html` ${describeType(schema)}`}</p>${common && headerNames(headers, common)}${schema && attributeLists(schema, schemas)}</div>`;
}

/** The errors of an operation: when each is answered and with which message. Those that most operations have are one line. */
function errorList(refusals: readonly (readonly [status: string, Response])[], { errors }: Common): Html {
  const all = refusals.flatMap(([status, { content }]) =>
    Object.values(content?.['application/json'].examples ?? {}).map(({ summary, value }) => {
      const { code = '', message = '' } = value as Readonly<Record<string, string>>;
      const name = html`<strong>${status}</strong> <a href="#errors"><code>${code}</code></a>`;
      return { status, code, summary, message, name };
    }),
  );
  const [shared, own] = [
    all.filter(({ summary }) => errors.has(summary)),
    all.filter(({ status, summary }) => status !== 'default' && !errors.has(summary)),
  ];
  const items = own.map(
    ({ code, summary, message, name }) =>
      html`<li>${name} ${new Html(renderInline(summary.replace(`${code}: `, '')))}<span class="message">“${message}”</span></li>`,
  );
  return html`${items.length === 0 ? undefined : html`<ul class="errors">${items}</ul>`}
<p class="common">As everywhere: ${shared.filter(({ status }) => status !== 'default').map(({ name }) => html`${name}, `)}and what is no proper request: see <a href="#errors">Errors</a>.</p>`;
}

/** The form that sends a request. A script shows it. */
function tryForm(
  method: string,
  path: string,
  parameters: readonly Parameter[],
  schemas: Schemas,
  body: unknown,
  type: string | undefined,
): Html {
  const isChange = method !== 'GET';
  const fields = parameters
    .filter(({ name }) => name !== 'X-Request-Id' && name !== 'If-None-Match')
    .map(({ name, in: location, required, example, description, schema }) => {
      // Nobody must change a thing that is only an example.
      const value = location === 'path' && !isChange ? String(example) : '';
      const bounds = resolveValues(schema, schemas);
      const choices = bounds.type === 'boolean' ? [true, false] : bounds.enum;
      const shared = html`name="${name}" data-in="${location}" title="${description}"${required === true ? html` required` : undefined}`;
      const field =
        choices === undefined
          ? html`<input ${shared} value="${value}" placeholder="for example ${[example].flat().join(', ')}" autocomplete="off" spellcheck="false">`
          : html`<select ${shared}>${['', ...choices].map((choice) => html`<option>${String(choice)}</option>`)}</select>`;
      return html`<div class="field"><label>${name}${required === true ? ' (required)' : ''}${field}</label></div>`;
    });
  return html`<details class="try" hidden><summary>Try it</summary><form data-method="${method}" data-path="${path}"${type === undefined ? undefined : html` data-type="${type}"`}>
<div class="field"><label>API key<input name="key" type="password" data-in="key" required autocomplete="off" spellcheck="false"></label></div>
${fields}${body === undefined ? undefined : html`<div class="field"><label>Body<textarea name="body" data-in="body" rows="6" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea></label></div>`}
<div class="actions"><button type="submit" class="main">Send</button></div><p class="outcome" role="status"></p><div class="result"></div></form></details>`;
}

function schemaSection(name: string, schema: Schema, schemas: Schemas): Html {
  const example = schema.examples?.[0];
  const aside =
    example === undefined
      ? undefined
      : sampleBox(
          `${name}-example`,
          [{ language: 'json', source: JSON.stringify(example, null, 2) }],
          ['Example'],
        );
  return section(
    name,
    name,
    html`<div class="pair"><div><div class="prose">${new Html(renderText(schema.description ?? ''))}</div>${fieldList(schema, schemas, name)}</div><div class="aside">${aside}</div></div>`,
    'page schema',
  );
}

/** What webhooks and the feed tell of, by kind of thing. */
function eventTypes({ webhooks }: Description): Html {
  const kinds = Map.groupBy(Object.entries(webhooks), ([, { post }]) =>
    String(post.requestBody.content['application/json'].schema.$ref),
  );
  return html`${[...kinds].map(([reference, members]) => {
    const samples = members.map(([, { post }]) => {
      const [example] = Object.values(post.requestBody.content['application/json'].examples);
      return { language: 'json' as const, source: JSON.stringify(example?.value, null, 2) };
    });
    const types = members.map(
      ([type, { post }]) =>
        html`<dt id="${type}"><code>${type}</code></dt><dd>${new Html(renderInline(post.description))}</dd>`,
    );
    return html`<div class="pair"><div><dl class="fields">${types}</dl><p>${describeType({ $ref: reference })}</p></div><div class="aside">${sampleBox(
      reference.split('/').at(-1) ?? '',
      samples,
      members.map(([type]) => type),
    )}</div></div>`;
  })}`;
}
