import type { OpenApi } from './openapi.ts';
import { errorReply, JSON_TYPE } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { type Fields, fields } from './fields.ts';
import { CONTENT_SECURITY_POLICY } from './reference/style.ts';
import { SHUTTING_DOWN } from './messages.ts';
import type { Reply } from './reply.ts';

/** Answers for everything that is not below `/v1`: no key, not metered (decisions §1). */
export interface Site {
  knows(path: string): boolean;
  answer(exchange: Exchange): Promise<Reply>;
}

export interface SiteDependencies {
  readonly openApi: OpenApi;
  /** The reference, as an HTML page. */
  readonly reference: string;
  /** Rejects when a store cannot answer. */
  readonly ping: () => Promise<void>;
  readonly isDraining: () => boolean;
}

type Page = () => Reply | Promise<Reply>;

export function createSite({ openApi, reference, ping, isDraining }: SiteDependencies): Site {
  const pages: Readonly<Record<string, Page>> = {
    '/': () => ({ status: 302, headers: fields('Location', '/reference', 'Content-Length', '0') }),
    '/reference': () =>
      text('text/html; charset=utf-8', reference, fields('Content-Security-Policy', CONTENT_SECURITY_POLICY)),
    '/openapi.json': () => open('application/json; charset=utf-8', openApi.json),
    '/openapi.yaml': async () => open('application/yaml; charset=utf-8', await openApi.yaml()),
    '/.well-known/api-catalog': () =>
      open(
        'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        openApi.catalog,
        CATALOG_LINK,
      ),
    '/healthz': () => text(JSON_TYPE, '{"status":"ok"}', NO_STORE),
    '/readyz': async () => {
      if (isDraining()) return errorReply('unavailable', SHUTTING_DOWN, NO_STORE);
      await ping();
      return text(JSON_TYPE, '{"status":"ok"}', NO_STORE);
    },
  };
  const knows = (path: string) => Object.hasOwn(pages, path);
  return {
    knows,
    async answer({ path, request }) {
      const page = path !== undefined && knows(path) ? pages[path] : undefined;
      if (page === undefined) return errorReply('not_found', 'There is no such path; the API begins at /v1.');
      if (request.method === 'GET' || request.method === 'HEAD') return page();
      return errorReply('method_not_allowed', 'This path takes GET and HEAD.', fields('Allow', 'GET, HEAD'));
    },
  };
}

const NO_STORE = fields('Cache-Control', 'no-store');
const CATALOG_LINK = fields('Link', '</.well-known/api-catalog>; rel="api-catalog"');
const ANY_ORIGIN = fields('Access-Control-Allow-Origin', '*');

function text(type: string, body: string, headers: Fields = ''): Reply {
  return { status: 200, headers: fields('Content-Type', type) + headers, body };
}

/** What tools on other sites may read: the description and the way to it. */
function open(type: string, body: string, headers: Fields = ''): Reply {
  return text(type, body, ANY_ORIGIN + headers);
}
