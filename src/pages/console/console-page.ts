// Contract: section 10.1.
import { errorReply, otherMethodReply } from '../../http/errors.ts';
import type { Reply } from '../../http/reply.ts';
import { kept } from '../../domain/lazy.ts';
import { pageWithFiles } from '../shared/page.ts';
import type { ConsoleRequest } from '../../console/console-request.ts';

const PATHS = /^\/(?:accounts(?:\/\d+)?|keys|bans|deprecations|faults|audit|operators|sign-in)?$/;

/** The folder of what the page loads. */
const FILES = '/ui/';

const METHODS = 'GET, HEAD';

/** Made at the first request, so that a start does not wait for it. */
const parts = kept(() =>
  pageWithFiles('console', {
    title: 'Pet Store console',
    root: '/',
    withoutScript: 'The console needs JavaScript. The commands of petstore do the same.',
  }),
);

/**
 * The page of the console and its files. They hold no data, so they need no session; the page asks the admin API for all
 * that it shows. Undefined for paths of something else.
 */
export async function consolePage(asked: ConsoleRequest): Promise<Reply | undefined> {
  const { request, path } = asked;
  const { method = '' } = request;
  const isPage = PATHS.test(path) && !(path === '/sign-in' && method === 'POST');
  if (!isPage && !path.startsWith(FILES)) return undefined;
  asked.route = isPage ? path.replace(/\d+/, '{accountId}') : `${FILES}*`;
  if (method !== 'GET' && method !== 'HEAD') return otherMethodReply(METHODS);
  const { page, file } = await parts();
  const content = isPage ? page : file(path.slice(1));
  return content?.reply(request) ?? errorReply('not_found', 'The console has no such file.');
}
