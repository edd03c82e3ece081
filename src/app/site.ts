// Contract: section 1.
import type { IncomingMessage } from 'node:http';
import type { Site } from '../http/public-api.ts';
import { errorResponse, JSON_CONTENT } from '../http/response.ts';
import type { ServingState } from '../http/steps.ts';
import { fields, joinFields, octets } from 'direct-http';
import { STORE_LOST } from '../http/messages.ts';
import type { Urls } from '../description/openapi.ts';
import type { createReference } from '../pages/reference/reference.ts';
import type { Response } from '../http/context.ts';
import { lazy } from '../domain/lazy.ts';

interface SiteDependencies {
  readonly urls: Urls;
  /** The base address of the running environment. */
  readonly base: string;
  /** Rejects when a store cannot answer. */
  readonly ping: () => Promise<void>;
  readonly state: ServingState;
}

type Reference = Awaited<ReturnType<typeof createReference>>;
type Page = (request: IncomingMessage) => Response | Promise<Response>;

/** `prepare` makes what the first requests would make, in small parts, until `signal` aborts. */
export function createSite({ urls, base, ping, state }: SiteDependencies) {
  // Loaded and made soon after the start, or at the first request, because a start should not wait for it.
  const reference = lazy(async () =>
    (await import('../pages/reference/reference.ts')).createReference(urls, base),
  );
  const page =
    (name: Exclude<keyof Reference, 'file'>): Page =>
    async (request) =>
      (await reference())[name].respond(request);
  const dashboard = lazy(async () => {
    const { emptyContent, pageWithFiles } = await import('../pages/shared/page.ts');
    return pageWithFiles('dashboard', {
      title: 'Pet Store dashboard',
      root: './',
      content: emptyContent('The dashboard needs JavaScript. The API gives the same: see /reference.md.'),
    });
  });
  const icon =
    (name: keyof typeof import('../pages/shared/icons.ts').ICONS): Page =>
    async (request) =>
      (await import('../pages/shared/icons.ts')).ICONS[name].respond(request);
  const pages: Readonly<Record<string, Page>> = {
    '/': () => ({ status: 302, headers: fields('Location', '/reference', 'Content-Length', '0') }),
    '/reference': page('page'),
    '/reference.md': page('markdown'),
    '/llms.txt': page('llms'),
    '/openapi.json': page('json'),
    '/openapi.yaml': page('yaml'),
    '/.well-known/api-catalog': page('catalog'),
    '/dashboard': async (request) => (await dashboard()).page.respond(request),
    '/favicon.ico': icon('/favicon.ico'),
    '/favicon.svg': icon('/favicon.svg'),
    '/robots.txt': () => ROBOTS,
    '/healthz': () => OK,
    '/readyz': async () => {
      if (state.isDraining) return errorResponse('unavailable', undefined, NO_STORE);
      if (!state.isOpen) return errorResponse('unavailable', STORE_LOST, NO_STORE);
      await ping();
      return OK;
    },
  };
  const find = async (path: string): Promise<Page | undefined> => {
    if (Object.hasOwn(pages, path)) return pages[path];
    if (!FOLDERS.some((folder) => path.startsWith(folder))) return undefined;
    const name = path.slice(1);
    const file = (await dashboard()).file(name) ?? (await reference()).file(name);
    return file && ((request) => file.respond(request));
  };
  const site: Site = {
    countedPaths: COUNTED_PATHS,
    quietRoutes: new Set(['/healthz', '/readyz', ...FOLDERS.map((folder) => `${folder}*`)]),
    route(path) {
      const folder = FOLDERS.find((candidate) => path.startsWith(candidate));
      if (folder !== undefined) return `${folder}*`;
      return Object.hasOwn(pages, path) ? path : undefined;
    },
    async answer({ path = '', request }) {
      const found = await find(path);
      if (found === undefined) {
        return errorResponse('not_found', 'There is no such path; the API begins at /v1.');
      }
      if (request.method === 'GET' || request.method === 'HEAD') return found(request);
      return errorResponse(
        'method_not_allowed',
        'This path takes GET and HEAD.',
        fields('Allow', 'GET, HEAD'),
      );
    },
  };
  return {
    ...site,
    async prepare(signal: AbortSignal): Promise<void> {
      const { file: _, ...contents } = await reference();
      for (const content of [(await dashboard()).page, ...Object.values(contents)]) {
        if (signal.aborted) return;
        await content.prepare();
      }
    },
  };
}

/** What a stranger may ask for only so often. Files that pages load are smaller, and one page loads many of them. */
const COUNTED_PATHS: ReadonlySet<string> = new Set([
  '/reference',
  '/reference.md',
  '/llms.txt',
  '/openapi.json',
  '/openapi.yaml',
  '/.well-known/api-catalog',
  '/dashboard',
]);

/** The folders of what the pages load. */
const FOLDERS = ['/reference/', '/ui/'];
/** Crawlers may read the reference. The API needs a key, and the dashboard is empty without one. */
const ROBOTS: Response = {
  status: 200,
  headers: fields('Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'public, max-age=86400'),
  body: octets('User-agent: *\nDisallow: /v1/\nDisallow: /dashboard\n'),
};
const NO_STORE = fields('Cache-Control', 'no-store');
const OK: Response = {
  status: 200,
  headers: joinFields(JSON_CONTENT, NO_STORE),
  body: octets('{"status":"ok"}'),
};
