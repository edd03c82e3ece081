// Contract: section 1.
import { type Content, openContent } from './content.ts';
import { errorReply, JSON_CONTENT } from '../http/errors.ts';
import type { Site } from '../http/app.ts';
import type { Exchange } from '../http/exchange.ts';
import { fields, joinFields, octets } from '../http/wire/text.ts';
import { SHUTTING_DOWN, STORE_LOST } from '../http/messages.ts';
import type { OpenApi } from '../description/openapi.ts';
import { createReference } from './reference.ts';
import type { Reply } from '../http/reply.ts';

export interface SiteDependencies {
  readonly openApi: OpenApi;
  /** The base address of the running environment. */
  readonly base: string;
  /** Rejects when a store cannot answer. */
  readonly ping: () => Promise<void>;
  readonly isDraining: () => boolean;
  /** False while the store cannot be relied on. */
  readonly mayAdmit: () => boolean;
}

type Page = (request: Exchange['request']) => Reply | Promise<Reply>;

export function createSite({ openApi, base, ping, isDraining, mayAdmit }: SiteDependencies): Site {
  const reference = createReference(openApi.document, base);
  const pages: Readonly<Record<string, Page>> = {
    ...Object.fromEntries(reference.pictures.map(({ path, content }) => [path, page(content)])),
    '/': () => ({ status: 302, headers: fields('Location', '/reference', 'Content-Length', '0') }),
    '/reference': page(reference.page),
    '/reference.md': page(reference.markdown),
    '/llms.txt': page(reference.llms),
    '/openapi.json': page(openContent('application/json; charset=utf-8', () => openApi.json)),
    '/openapi.yaml': page(openContent('application/yaml; charset=utf-8', openApi.yaml)),
    '/.well-known/api-catalog': page(
      openContent(
        'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        () => openApi.catalog,
        fields('Link', '</.well-known/api-catalog>; rel="api-catalog"'),
      ),
    ),
    '/healthz': () => OK,
    '/readyz': async () => {
      if (isDraining()) return errorReply('unavailable', SHUTTING_DOWN, NO_STORE);
      if (!mayAdmit()) return errorReply('unavailable', STORE_LOST, NO_STORE);
      await ping();
      return OK;
    },
  };
  const find = async (path: string): Promise<Page | undefined> => {
    if (Object.hasOwn(pages, path)) return pages[path];
    const file = path.startsWith(FILES) ? await reference.file(path.slice(1)) : undefined;
    return file === undefined ? undefined : page(file);
  };
  return {
    quietRoutes: new Set(['/healthz', '/readyz', `${FILES}*`]),
    route(path) {
      if (path.startsWith(FILES)) return `${FILES}*`;
      return Object.hasOwn(pages, path) ? path : undefined;
    },
    async answer({ path = '', request }) {
      const found = await find(path);
      if (found === undefined) {
        return errorReply('not_found', 'There is no such path; the API begins at /v1.');
      }
      if (request.method === 'GET' || request.method === 'HEAD') return found(request);
      return errorReply('method_not_allowed', 'This path takes GET and HEAD.', fields('Allow', 'GET, HEAD'));
    },
  };
}

const FILES = '/reference/';
const NO_STORE = fields('Cache-Control', 'no-store');
const OK: Reply = {
  status: 200,
  headers: joinFields(JSON_CONTENT, NO_STORE),
  body: octets('{"status":"ok"}'),
};

function page(content: Content): Page {
  return (request) => content.reply(request);
}
