// Contract: section 10.1.
import { z } from 'zod';
import { expectation, parseBody, parseObject } from '../../domain/parse.ts';
import { MEDIA_TYPES, readJsonBody } from '../body.ts';
import { otherMethodReply } from '../errors.ts';
import type { Reply } from '../reply.ts';
import type { Access } from './access.ts';
import type { ConsoleRequest } from '../../console/console-request.ts';

const Link = z.object({ link: z.string({ error: 'must be a string' }) });

/** `POST /sign-in` and `POST /sign-out`. The page of `/sign-in` is answered before. Undefined for other paths. */
export async function signInOrOut(asked: ConsoleRequest, access: Access): Promise<Reply | undefined> {
  const { request, path } = asked;
  const methods = { '/sign-in': 'GET, HEAD, POST', '/sign-out': 'POST' }[path];
  if (methods === undefined) return undefined;
  asked.route = path;
  if (request.method !== 'POST') return otherMethodReply(methods);
  if (path === '/sign-out') return access.signOut(request);
  const bytes = await readJsonBody(request, () => expectation(Link), MEDIA_TYPES.POST);
  return access.signIn(request, parseObject(Link, parseBody(bytes)).link);
}
