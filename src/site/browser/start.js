import { mendAccessibility } from './accessibility.js';
import { createApiReference } from './standalone.esm.js';

/**
 * @typedef {{ required?: boolean, example?: unknown, examples?: unknown }} Parameter
 * @typedef {{ url: string }} Server
 * @typedef {{ servers: Server[], components: { parameters: Record<string, Parameter> } }} Description
 */

const main = /** @type {HTMLElement} */ (document.querySelector('#reference'));
const description = await readDescription();

// A parameter with an example is sent unless it is switched off: a cursor that leads nowhere, an entity tag of nothing.
for (const parameter of Object.values(description.components.parameters)) {
  if (parameter.required) continue;
  parameter.examples = { default: { value: parameter.example, 'x-disabled': true } };
  delete parameter.example;
}

const isHere = (/** @type {Server} */ { url }) => url === main.dataset['server'];

createApiReference(main, {
  content: description,
  servers: description.servers.toSorted((a, b) => Number(isHere(b)) - Number(isHere(a))),
  authentication: { preferredSecurityScheme: 'apiKey' },
  // Nothing of Scalar's own services: the page asks nobody but this service.
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
});

mendAccessibility();

/** Without it there is nothing to show but where else to look. */
async function readDescription() {
  try {
    const response = await fetch('openapi.json');
    if (!response.ok) throw new Error(`openapi.json was answered ${response.status}`);
    return /** @type {Description} */ (await response.json());
  } catch (error) {
    main.innerHTML =
      '<p role="alert">The description could not be loaded. Reload the page, or read <a href="reference.md">reference.md</a>.</p>';
    throw error;
  }
}
