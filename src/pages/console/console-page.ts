// Contract: section 10.1.
import { lazy } from '../../domain/lazy.ts';
import type { ConsolePages } from '../../http/admin-api.ts';
import { errorResponse, otherMethodResponse } from '../../http/response.ts';
import { emptyContent, pageWithFiles } from '../shared/page.ts';

const PATHS =
  /^\/(?:(?:accounts|animals|faults)(?:\/\d+)?|categories|orders|keys|bans|deprecations|audit|operators|passkeys|sign-in)?$/;

/** The folder of what the page loads. */
const FILES = '/ui/';

/** Made at the first request, so that a start does not wait for it. */
const parts = lazy(() =>
  pageWithFiles('console', {
    title: 'Pet Store console',
    root: '/',
    content: emptyContent('The console needs JavaScript. The commands of petstore do the same.'),
  }),
);

/** The page of the console, which has several paths, and its files. The page asks the admin API for all that it shows. */
export const CONSOLE_PAGES: ConsolePages = {
  route(path) {
    if (PATHS.test(path)) return path.replace(/\d+/, '{id}');
    return path.startsWith(FILES) ? `${FILES}*` : undefined;
  },
  async answer({ request, path = '' }) {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') return otherMethodResponse('GET, HEAD');
    const { page, file } = await parts();
    const content = PATHS.test(path) ? page : file(path.slice(1));
    return content?.respond(request) ?? errorResponse('not_found', 'The console has no such file.');
  },
};
