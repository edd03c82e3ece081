// Contract: sections 3 and 4.
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { Call, Operation } from '../api/operation.ts';
import { type Named, readQuery, type Value, type Values } from '../api/parameters.ts';
import { ServiceError } from '../domain/errors.ts';
import { expectation, parseObject } from '../domain/parse.ts';
import { readPatch, unreadablePatch } from '../domain/patch.ts';
import { parseBody } from '../json.ts';
import { MEDIA_TYPES, readJsonBody, refuseBody } from './body.ts';
import { fingerprintOf, parseIdempotencyKey } from './request-headers.ts';
import type { Served } from './routes.ts';

/** The values of the path and of the query, or undefined when the path names nothing that can exist. */
export function readParameters(
  { inPath, inQuery, absent }: Pick<Served, 'inPath' | 'inQuery' | 'absent'>,
  texts: readonly string[],
  query: string,
): Values | undefined {
  if (query === '' && inPath.length === 0) return absent;
  const values: Record<string, Value | undefined> = { ...absent };
  for (let index = 0; index < inPath.length; index++) {
    const [name, parameter] = inPath[index] as Named;
    const value = parameter.read(texts[index] ?? '');
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return readQuery(query, inQuery, values);
}

type Body = Pick<Call, 'body' | 'idempotency'>;

export const NONE: Body = { body: undefined, idempotency: undefined };

/** The body of a request, and what makes it safe to send the request again. */
export async function readContent(
  { id, method, body }: Operation,
  request: IncomingMessage,
  accountId: number,
  inPath: readonly string[],
): Promise<Body> {
  if (method === 'DELETE') {
    refuseBody(request);
    return NONE;
  }
  if (method === 'PATCH')
    return { body: body && (await readPatchBody(body.schema, request)), idempotency: undefined };
  const header = request.headers['idempotency-key'];
  const key = header === undefined ? undefined : parseIdempotencyKey(String(header), id);
  const bytes =
    body === undefined
      ? NO_BYTES
      : await readJsonBody(request, () => expectation(body.schema), MEDIA_TYPES.POST);
  return {
    body: body === undefined ? undefined : parseObject(body.schema, parseBody(bytes)),
    idempotency:
      key === undefined ? undefined : { accountId, key, fingerprint: fingerprintOf(inPath, bytes) },
  };
}

/** A fault of the body is part of the patch, because 404, 412 and 409 come before it. */
async function readPatchBody(schema: z.ZodObject, request: IncomingMessage) {
  try {
    const bytes = await readJsonBody(request, () => expectation(schema), MEDIA_TYPES.PATCH);
    return readPatch(schema, parseBody(bytes));
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'invalid_request')
      return unreadablePatch(error.message);
    throw error;
  }
}

/** The entity tags that an `If-Match` header lists. */
export function entityTags(header: string | undefined): readonly string[] | undefined {
  return header?.split(',').map((tag) => tag.trim());
}

const NO_BYTES = Buffer.alloc(0);
