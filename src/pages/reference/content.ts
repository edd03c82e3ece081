import samplesInMoreLanguages from './samples.json' with { type: 'json' };
import { EXAMPLE_URLS } from '../../config/config.ts';
import type { Description } from '../../description/openapi.ts';
import type { OperationObject } from '../../description/operations.ts';
import type { Content, Parameter, Response, Schema } from '../../description/types.ts';
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
import { describeType, factList, fieldList, type Schemas } from './schema.ts';

interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** The whole reference as HTML: complete without a script. `base` is the folder of the files of the page. */
export function* referenceContent(description: Description, server: string, base: string): Parts<Html> {
  const { info, tags, paths, components, servers } = description;
  yield* compileGrammars();
  const pages = yield* splitPages(info.description);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
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
  const sections = new Map<PlacedOperation, Html>();
  for (const member of operations) {
    sections.set(member, operationSection(member, components, server));
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
${links(pages.map(({ slug, title }) => [slug, title]))}
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
  }) => html`<section class="group"><h2 id="group-${slugify(name)}">${name}</h2>
<div class="prose">${new Html(renderText(text))}</div></section>
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

function pair(name: string, { text, samples }: Passage): Html {
  return html`<div class="pair"><div class="prose">${new Html(text)}</div><div class="aside">${sampleBox(name, samples)}</div></div>`;
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

function operationSection(
  { method, path, operation }: PlacedOperation,
  { parameters, schemas }: Description['components'],
  server: string,
): Html {
  const { operationId, summary, description, deprecated, requestBody, responses } = operation;
  const stability = operation['x-stability'];
  const placed = operation.parameters.map(({ $ref }) => parameters[$ref.split('/').at(-1) ?? '']);
  const own = placed.filter((parameter) => parameter !== undefined);
  const examples = requestBody?.content['application/json'].examples ?? {};
  const badges = html`${stability && html` <span class="badge">${stability}</span>`}${deprecated === true ? html` <span class="badge warn">deprecated</span>` : undefined}`;
  const statuses = Object.entries(responses);
  const [successes, refusals] = [
    statuses.filter(([status]) => status < '400'),
    statuses.filter(([status]) => status >= '400'),
  ];
  const text = html`<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>${badges}</p>
<div class="prose">${new Html(renderText(description))}</div>
${own.length === 0 ? undefined : html`<h3>Parameters</h3>${parameterList(own)}`}
${requestBody && html`<h3>Body</h3><p>${new Html(renderInline(requestBody.description))} ${bodyType(requestBody.content)}</p>${bodyFields(requestBody.content, schemas)}`}
<h3>Answers</h3>${successes.map(answer)}
<h3>Errors</h3>${refusals.map(refusal)}`;
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
${tryForm(method, path, own, Object.values(examples)[0]?.value, requestBody === undefined ? undefined : Object.keys(requestBody.content)[0])}`;
  return section(
    operationId,
    summary,
    html`<div class="pair"><div>${text}</div><div class="aside">${aside}</div></div>`,
    'page operation',
  );
}

function parameterList(parameters: readonly Parameter[]): Html {
  return factList(
    parameters.map(({ name, in: location, schema, required, description }) => ({
      name,
      schema,
      description,
      isRequired: required === true,
      location: `in the ${location === 'header' ? 'headers' : location}`,
    })),
  );
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

function headerNames(response: Response): Html {
  return html`<p class="headers">Headers: ${Object.keys(response.headers).map((name, index) => html`${index === 0 ? '' : ', '}<code>${name}</code>`)}</p>`;
}

function answer([status, response]: readonly [string, Response]): Html {
  const schema = response.content?.['application/json'].schema;
  return html`<div class="answer"><p><strong>${status}</strong> ${new Html(renderInline(response.description))}${schema && html` ${describeType(schema)}`}</p>${headerNames(response)}</div>`;
}

/** Every code of a status, when it is answered and with which message. Those of HTTP are the same everywhere. */
function refusal([status, response]: readonly [string, Response]): Html {
  if (status === 'default') return html`<p>${response.description} See <a href="#errors">Errors</a>.</p>`;
  const examples = Object.values(response.content?.['application/json'].examples ?? {});
  const errors = examples.map(({ summary, value }) => {
    const { code, message, status: number } = value as Readonly<Record<string, string>>;
    const when = summary.startsWith(`${code}: `) ? summary.slice(`${code}: `.length) : undefined;
    return html`<li><strong>${number ?? status}</strong> <a href="#errors"><code>${code}</code></a>${when === undefined ? undefined : html` ${new Html(renderInline(when))}`}<span class="message">“${message}”</span></li>`;
  });
  return html`<ul class="errors">${errors}</ul>`;
}

/** The form that sends a request. A script shows it. */
function tryForm(
  method: string,
  path: string,
  parameters: readonly Parameter[],
  body: unknown,
  type: string | undefined,
): Html {
  const isChange = method !== 'GET';
  const fields = parameters
    .filter(({ name }) => name !== 'X-Request-Id' && name !== 'If-None-Match')
    .map(({ name, in: location, required, example, description }) => {
      // Nobody must change a thing that is only an example.
      const value = location === 'path' && !isChange ? String(example) : '';
      const hint = `for example ${[example].flat().join(', ')}`;
      return html`<div class="field"><label>${name}${required === true ? ' (required)' : ''}<input name="${name}" data-in="${location}" value="${value}" placeholder="${hint}" title="${description}"${required === true ? html` required` : undefined} autocomplete="off" spellcheck="false"></label></div>`;
    });
  return html`<details class="try" hidden><summary>Try it</summary><form data-method="${method}" data-path="${path}"${type === undefined ? undefined : html` data-type="${type}"`}>
<div class="field"><label>API key<input name="key" type="password" data-in="key" required autocomplete="off" spellcheck="false"></label></div>
${fields}${body === undefined ? undefined : html`<div class="field"><label>Body<textarea name="body" data-in="body" rows="6" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea></label></div>`}
<div class="actions"><button type="submit" class="main">Send</button></div><div class="result" role="status"></div></form></details>`;
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
