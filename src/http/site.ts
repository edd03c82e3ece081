// Contract: section 1.
import { Content } from './content.ts';
import { errorReply, JSON_CONTENT } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { type Fields, fields } from './fields.ts';
import { SHUTTING_DOWN, STORE_LOST } from './messages.ts';
import { octets } from './octets.ts';
import type { OpenApi } from './openapi.ts';
import { createReference } from './reference.ts';
import type { Reply } from './reply.ts';

/** Answers for everything that is not below `/v1`: no key, not metered. */
export interface Site {
  /** For log and metrics: what the path is one of, undefined when there is no such path. */
  route(path: string): string | undefined;
  answer(exchange: Exchange): Promise<Reply>;
}

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
    '/': () => ({ status: 302, headers: fields('Location', '/reference', 'Content-Length', '0') }),
    '/reference': page(reference.page),
    '/reference.md': page(reference.markdown),
    '/llms.txt': page(reference.llms),
    '/openapi.json': page(open('application/json; charset=utf-8', () => openApi.json)),
    '/openapi.yaml': page(open('application/yaml; charset=utf-8', openApi.yaml)),
    '/.well-known/api-catalog': page(
      open(
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
const OPEN = fields('Access-Control-Allow-Origin', '*', 'Cache-Control', 'no-cache');
const OK: Reply = {
  status: 200,
  headers: JSON_CONTENT + NO_STORE,
  body: octets('{"status":"ok"}'),
};

function page(content: Content): Page {
  return (request) => content.reply(request);
}

/** What tools on other sites may read: the description and the way to it. */
function open(type: string, load: () => string | Promise<string>, headers: Fields = ''): Content {
  return new Content(type, load, OPEN + headers);
}
