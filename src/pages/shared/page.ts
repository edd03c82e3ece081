import { createHash } from 'node:crypto';
import { Content } from '../../http/content.ts';
import { fields, joinFields } from 'direct-http';
import { createAssets } from './assets.ts';
import { ICON } from './hashed-files.ts';
import { html } from './html.ts';

interface PageOptions {
  readonly title: string;
  /** The path from the page to its files: `./` if a proxy may serve the page below a path, else `/`. */
  readonly root: './' | '/';
  /** The text of the page without JavaScript. */
  readonly withoutScript: string;
}

/**
 * The HTML page of `folder` of `src/pages/`, and the files that it loads. The page has no data: its module renders into
 * `#app`, and asks the service for all that it shows.
 */
export async function pageWithFiles(folder: 'console' | 'dashboard', options: PageOptions) {
  const { title, root, withoutScript } = options;
  const assets = await createAssets(folder);
  const module = `${folder}/main.js`;
  const base = root + assets.base;
  const importMap = JSON.stringify({
    imports: Object.fromEntries([...assets.packages].map(([name, path]) => [name, base + path])),
  });
  const modules = await assets.modules(module);
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${base}${ICON.name}" type="image/svg+xml">
`;
  const styles = assets.styles.map((name) => html`<link rel="stylesheet" href="${base}${name}">\n`).join('');
  const preloads = modules.map((name) => html`<link rel="modulepreload" href="${base}${name}">\n`).join('');
  const rest = html`<script type="module" src="${base}${module}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p class="notice">${withoutScript}</p></noscript>
</body>
</html>
`;
  const body = `${head}${styles}<script type="importmap">${importMap}</script>\n${preloads}${rest}`;
  const headers = joinFields(PRIVATE, fields('Content-Security-Policy', contentSecurityPolicy(importMap)));
  return { page: new Content('text/html; charset=utf-8', () => body, headers), file: assets.file };
}

/** Other sites get neither the address of this page nor a reference to its window. */
const PRIVATE = joinFields(
  fields('Cache-Control', 'no-cache'),
  fields('Cross-Origin-Opener-Policy', 'same-origin'),
  fields('Referrer-Policy', 'no-referrer'),
);

/** The page may load our own files and ask our own service, and nothing else. The import map is the only inline text. */
function contentSecurityPolicy(importMap: string): string {
  const hash = createHash('sha256').update(importMap).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
