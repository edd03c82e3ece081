import { correctPage } from './corrections.js';
import { createApiReference } from './standalone.esm.js';

/**
 * @typedef {{ in: string, required?: boolean, example?: unknown, schema: object }} Parameter
 * @typedef {{ url: string }} Server
 * @typedef {{ name: string, description: string }} Tag
 * @typedef {{
 *   info: { description: string }, servers: Server[], tags: Tag[],
 *   paths: Record<string, Record<string, { parameters: ({ $ref: string } | Parameter)[] }>>,
 *   components: { parameters: Record<string, Parameter> },
 * }} Description
 * @typedef {{ query: URLSearchParams, headers: Headers }} RequestBuilder
 */

const main = /** @type {HTMLElement} */ (document.querySelector('#reference'));
const here = main.dataset['server'] ?? '';
const description = await readDescription();

arrangeGuide(description);

startParametersEmpty(description);

createApiReference(main, {
  content: description,
  servers: description.servers.toSorted((a, b) => Number(b.url === here) - Number(a.url === here)),
  authentication: { preferredSecurityScheme: 'apiKey' },
  // Turns Scalar's own services off: the page sends requests to this service only.
  proxyUrl: '',
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
  agent: { disabled: true },
  mcp: { disabled: true },
  // The code samples of the description are the ones that are tried out.
  hiddenClients: true,
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
  modelsSectionLabel: 'Schemas',
  onBeforeRequest: sendWhatIsFilled,
  onRequestSent: showAnswer,
});

correctPage();

/**
 * Scalar finds the text of a group, and follows the reader through groups. So each section of the guide after the second
 * becomes a group without operations, below the operations. The first two sections stay above them.
 * @param {Description} its
 */
function arrangeGuide(its) {
  const [introduction = '', key = '', ...pages] = its.info.description.split(/^(?=## )/m);
  its.info.description = introduction + key;
  for (const page of pages) {
    const [heading = '', ...lines] = page.split('\n');
    its.tags.push({ name: heading.slice('## '.length), description: lines.join('\n') });
  }
  // Addresses of sections in version 1.0.0, before they were groups.
  const [, slug = ''] = /^#description\/(.+)/.exec(location.hash) ?? [];
  if (its.tags.some(({ name }) => name.toLowerCase().replaceAll(' ', '-') === slug))
    location.hash = `#tag/${slug}`;
}

/**
 * Scalar fills a parameter that has an example, and sends it. So an optional one starts empty, and so does the id of what an
 * operation changes: nobody changes animal 42 without a look at the field. The schema shows the example instead.
 * @param {Description} its
 */
function startParametersEmpty({ components, paths }) {
  const all = components.parameters;
  for (const [name, parameter] of Object.entries(all))
    if (!parameter.required) all[name] = emptied(parameter);
  for (const path of Object.values(paths))
    for (const [method, operation] of Object.entries(path)) {
      if (method === 'get') continue;
      operation.parameters = operation.parameters.map((its) => {
        const parameter = '$ref' in its ? all[its.$ref.slice('#/components/parameters/'.length)] : its;
        return parameter?.in === 'path' ? emptied(parameter) : its;
      });
    }
}

/** @param {Parameter} parameter @returns {Parameter} */
function emptied({ example, schema, ...rest }) {
  // A schema with a name has examples of its own. A list of examples would make the field a choice of these.
  const shown = '$ref' in schema ? schema : { ...schema, example, examples: [] };
  return { ...rest, schema: shown, example: '' };
}

/**
 * A parameter that was filled and cleared again is empty, and Scalar would send it.
 * @param {{ requestBuilder: RequestBuilder }} request
 */
function sendWhatIsFilled({ requestBuilder: { query, headers } }) {
  for (const fields of [query, headers]) {
    const cleared = [...fields].filter(([, value]) => value === '');
    for (const [name] of cleared) fields.delete(name);
  }
}

/** On a phone the answer is below the form. */
function showAnswer() {
  requestAnimationFrame(() =>
    document.querySelector('[role="dialog"] .response-heading')?.closest('section')?.scrollIntoView(),
  );
}

/** Without the description, the page only says where else to look. */
async function readDescription() {
  try {
    const response = await fetch('openapi.json');
    if (!response.ok) throw new Error(`openapi.json was answered ${response.status}`);
    const text = await response.text();
    // The page may be open under another address than the one that is configured. Its links stay on the page.
    const linked = text.replaceAll(`](${new URL('../', `${here}/`).href}`, '](');
    return /** @type {Description} */ (JSON.parse(linked));
  } catch (error) {
    main.innerHTML =
      '<p role="alert">The description could not be loaded. Reload the page, or read <a href="reference.md">reference.md</a>.</p>';
    throw error;
  }
}
