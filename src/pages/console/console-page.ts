// Contract: section 10.1.
import { lazy } from '../../domain/lazy.ts';
import type { ConsolePages } from '../../http/admin-api.ts';
import { errorResponse, otherMethodResponse } from '../../http/response.ts';
import { ICONS, isIcon } from '../shared/icons.ts';
import { emptyContent, pageWithFiles } from '../shared/page.ts';
import { isPage } from './pages.js';
import { PHOTO, respondPhoto } from './photo-page.ts';

/** The folder of what the page loads. */
const FILES = '/ui/';

/** Made at the first request, so that a start does not wait for it. */
const parts = lazy(() =>
  pageWithFiles('console', {
    title: 'Pet Store console',
    root: '/',
    // For photos.
    hasFrames: true,
    content: emptyContent('The console needs JavaScript. The commands of petstore do the same.'),
  }),
);

/** The page of the console, which has several paths, and its files. The page asks the admin API for all that it shows. */
export const CONSOLE_PAGES: ConsolePages = {
  route(path) {
    if (isPage(path)) return path.replace(/\d+/, '{id}');
    if (isIcon(path) || path === PHOTO) return path;
    return path.startsWith(FILES) ? `${FILES}*` : undefined;
  },
  async answer({ request, path = '' }) {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') return otherMethodResponse('GET, HEAD');
    if (path === PHOTO) return respondPhoto(request);
    const { page, file } = await parts();
    const content = isPage(path) ? page : isIcon(path) ? ICONS[path] : file(path.slice(1));
    return content?.respond(request) ?? errorResponse('not_found', 'The console has no such file.');
  },
  async notFound({ headers: { 'accept-encoding': coding } }) {
    const { page } = await parts();
    const shown = await page.respond({ headers: coding === undefined ? {} : { 'accept-encoding': coding } });
    return { ...shown, status: 404, code: 'not_found' };
  },
};
