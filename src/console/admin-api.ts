// Contract: section 10.2.
import type { IncomingMessage } from 'node:http';
import type { AdminStores } from '../admin/index.ts';
import type { AdminOperation } from '../admin/operation.ts';
import { readParameters } from '../http/parameters.ts';
import { ServiceError } from '../domain/errors.ts';
import { expectation, parseBody, parseObject } from '../domain/parse.ts';
import { Answers } from '../http/answer.ts';
import { MEDIA_TYPES, readJsonBody, refuseBody } from '../http/body.ts';
import { errorReply, otherMethodReply } from '../http/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { Routes } from '../http/request.ts';
import { fields, NO_FIELDS } from 'direct-http';
import type { Access } from '../http/auth/access.ts';
import type { ConsoleRequest } from './console-request.ts';

interface AdminApiDependencies {
  readonly routes: Routes<AdminOperation<AdminStores>>;
  readonly stores: AdminStores;
  readonly access: Access;
  readonly base: string;
}

export const LACKS_ROLE = 'Your role is viewer, which only reads: ask an operator with the role admin.';

/** Everything below `/admin/v1`, in the order in which a request is checked. */
export class AdminApi {
  readonly #deps: AdminApiDependencies;
  readonly #answers: Answers;

  constructor(deps: AdminApiDependencies) {
    this.#deps = deps;
    // The console adds its own Cache-Control to every answer.
    this.#answers = new Answers(deps.base, NO_FIELDS);
  }

  async answer(asked: ConsoleRequest): Promise<Reply> {
    const { access, routes, stores } = this.#deps;
    const { request, path, query } = asked;
    const match = routes.match(path);
    if (match !== undefined) asked.route = match.route.template;
    const entered = await access.enter(request);
    if ('refusal' in entered) return entered.refusal;
    const { operator, author } = entered;
    asked.operator = operator.name;

    if (match === undefined) return errorReply('not_found', 'The admin API has no such path.');
    const { methods, operations } = match.route;
    if (request.method === 'OPTIONS') return { status: 204, headers: fields('Allow', methods) };
    const served = operations[request.method ?? ''];
    if (served === undefined) return otherMethodReply(methods);
    const { operation } = served;
    if (operation.role === 'admin' && operator.role !== 'admin')
      return errorReply('insufficient_scope', LACKS_ROLE);

    const parameters = readParameters(served, match.values, query);
    if (parameters === undefined) return errorReply('not_found', operation.errors.not_found ?? '');
    const body = await readBody(operation, request);
    const work = operation.handle({ operator, author, parameters, body }, stores);
    const answer = await (operation.body === undefined ? work : work.catch(refuseValue));
    return this.#answers.reply(served, { parameters }, answer, request.headers);
  }
}

/** To the rules of the domain, every value is a parameter. A value of a body makes the request invalid. */
function refuseValue(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_parameter') throw error;
  throw new ServiceError('invalid_request', error.message);
}

async function readBody({ method, body }: AdminOperation, request: IncomingMessage): Promise<unknown> {
  if (method === 'DELETE') refuseBody(request);
  if (body === undefined) return undefined;
  const types = MEDIA_TYPES[method === 'PATCH' ? 'PATCH' : 'POST'];
  const bytes = await readJsonBody(request, () => expectation(body.schema), types);
  return parseObject(body.schema, parseBody(bytes));
}
