import type { Description } from '../../description/openapi.ts';
import { html } from '../shared/html.ts';

/**
 * The page that shows the description: an application that reads openapi.json, from the files below `base`. Without
 * JavaScript it shows the reference as Markdown. `server` is the base address that the page selects first.
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
<link rel="icon" href="${base}shared/icon.svg" type="image/svg+xml">
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
`;
}

/**
 * The page may load our own files only, and it may send requests to both servers. Scalar sets styles from script, so
 * styles need 'unsafe-inline'. Scripts do not.
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
