import { html } from '../html.ts';
import type { Description } from '../openapi/types.ts';

/**
 * The page that shows the description: an application that reads openapi.json, from the files below `base`; without
 * script the reference as Markdown. `server` is the base address to begin with.
 */
export function referencePage({ info }: Description, markdown: string, base: string, server: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${info.summary}">
<title>${info.title} API reference</title>
<link rel="icon" href="${base}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}style.css">
<link rel="alternate" href="reference.md" type="text/markdown" title="The reference as Markdown">
<link rel="service-desc" href="openapi.json" type="application/json">
<script type="module" src="${base}start.js"></script>
</head>
<body>
<div id="reference" data-server="${server}"></div>
<noscript>
<p>Without JavaScript: the same as text. It is also at <a href="reference.md">/reference.md</a>; the description is
<a href="openapi.json">/openapi.json</a> and <a href="openapi.yaml">/openapi.yaml</a>.</p>
<pre>${markdown}</pre>
</noscript>
</body>
</html>
`.text;
}

/**
 * What the page may load: nothing but our own files, and from both servers what is tried out. Scalar sets its styles
 * from script, in elements and in attributes, hence 'unsafe-inline' for them; scripts are our files alone.
 */
export function contentSecurityPolicy({ servers }: Description): string {
  const origins = servers.map(({ url }) => new URL(url).origin);
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...new Set(origins)].join(' ')}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
