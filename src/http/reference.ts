import { Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import type { Description } from './openapi/types.ts';
import { operationSection } from './reference/operation.ts';
import { schemaSection } from './reference/schema.ts';
import { STYLE } from './reference/style.ts';

/** The published reference as one HTML page, made of the description alone: no script, nothing from elsewhere. */
export function referencePage(description: Description): string {
  const { info, servers, tags, paths, components } = description;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API reference</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<h1>${info.title} API</h1>
<p class="quiet">Version ${info.version}. The description: <a href="/openapi.json">openapi.json</a>, <a href="/openapi.yaml">openapi.yaml</a></p>
<ul>${servers.map(({ url, description: name }) => html`<li>${name}: <code>${url}</code></li>`)}</ul>
</header>
<nav aria-label="Operations">
${tags.map(
  ({ name, description: text }) => html`<h2>${name}</h2>
<p>${text}</p>
<ul>${operations
    .filter(({ operation }) => operation.tags.includes(name))
    .map(
      ({ method, path, operation }) =>
        html`<li><a href="#${operation.operationId}">${operation.summary}</a> <code>${method.toUpperCase()} ${path}</code></li>`,
    )}</ul>`,
)}
</nav>
<main>
<section id="guide">
${markdown(info.description)}
</section>
${operations.map(({ method, path, operation }) => operationSection(description, method, path, operation))}
<section id="schemas">
<h2>Schemas</h2>
${Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema))}
</section>
</main>
</body>
</html>
`.text;
}
