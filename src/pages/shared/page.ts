import { Content } from '../../http/content.ts';
import { fields, joinFields } from 'direct-http';
import { createAssets, type PageFolder } from './assets.ts';
import { ICON, THEME_START } from './hashed-files.ts';
import { type Html, html } from './html.ts';

interface PageOptions {
  readonly title: string;
  /** The path from the page to its files: `./` if a proxy may serve the page below a path, else `/`. */
  readonly root: './' | '/';
  /** What the page shows before its module runs. `base` is the folder of its files. */
  readonly content: (base: string) => Html | Promise<Html>;
  /** More for the head of the page. */
  readonly links?: Html;
  /** Other origins that the page may send requests to. */
  readonly origins?: readonly string[];
  /** Whether the page shows other pages of this listener in frames. */
  readonly hasFrames?: boolean;
}

/** A page without data: its module renders into `#app`, and asks the service for all that it shows. */
export function emptyContent(withoutScript: string): () => Html {
  return () => html`<div id="app"></div>
<noscript><p class="notice">${withoutScript}</p></noscript>`;
}

/** The HTML page of `folder` of `src/pages/`, and the files that it loads. */
export async function pageWithFiles(folder: PageFolder, options: PageOptions) {
  const { title, root, content, links, origins = [], hasFrames = false } = options;
  const { script, style, file, ...assets } = await createAssets(folder);
  const base = root + assets.base;
  const page = async () => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${base}${ICON.name}" type="image/svg+xml">
${links}
<link rel="stylesheet" href="${base}${style}">
<script src="${base}${THEME_START.name}"></script>
<script type="module" src="${base}${script}"></script>
</head>
<body>
${await content(base)}
</body>
</html>
`;
  const headers = joinFields(
    PRIVATE,
    fields('Content-Security-Policy', contentSecurityPolicy(origins, hasFrames)),
  );
  return { page: new Content('text/html; charset=utf-8', async () => (await page()).text, headers), file };
}

/** Other sites get neither the address of this page nor a reference to its window. */
const PRIVATE = joinFields(
  fields('Cache-Control', 'no-cache'),
  fields('Cross-Origin-Opener-Policy', 'same-origin'),
  fields('Referrer-Policy', 'no-referrer'),
);

/** The page may load our own files, ask our own service and `origins`, and nothing else. */
function contentSecurityPolicy(origins: readonly string[], hasFrames: boolean): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...new Set(origins)].join(' ')}`,
    "font-src 'self'",
    ...(hasFrames ? ["frame-src 'self'"] : []),
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
