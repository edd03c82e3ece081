// Contract: sections 3 and 4.
import type { IncomingMessage } from 'node:http';
import { BODY_LIMIT, describeLimit, ServiceError } from '../domain/errors.ts';
import { expectation, parseBody, parseObject } from '../domain/parse.ts';
import { readPatch, unreadablePatch } from '../domain/patch.ts';
import { type BoundContext, ClientGone, type RequestContext } from './context.ts';
import type { Operation } from './operation.ts';
import { BODY_ENCODED, BODY_REFUSED, bodyMissing, OTHER_CHARSET, otherMediaType } from './messages.ts';
import { fingerprintOf, parseIdempotencyKey } from './request-headers.ts';
import { fields } from 'direct-http';

/** The media types that a body may have. The description shows the first one. A patch is one of RFC 7396. */
export const MEDIA_TYPES = {
  POST: ['application/json'],
  PATCH: ['application/merge-patch+json', 'application/json'],
} as const;

/** What the body of a PATCH may be (RFC 5789, section 3.1). */
export const ACCEPT_PATCH = fields('Accept-Patch', MEDIA_TYPES.PATCH.join(', '));

/** Reads the body of a request that is no GET, and what makes it safe to send the request again. */
export async function readContent(context: BoundContext): Promise<undefined> {
  const { request, operation, match, key, waits } = context;
  const { id, method, role, body, answer, location } = operation.declaration;
  if (method === 'DELETE') await readBytes(context, new ServiceError('invalid_request', BODY_REFUSED));
  if (method === 'PATCH' && role === undefined && body !== undefined) {
    context.body = await readPatchBody(body, context);
    return;
  }
  const header = request.headers['idempotency-key'];
  const isRepeatable = method === 'POST' && key !== undefined && header !== undefined;
  const hash = isRepeatable ? parseIdempotencyKey(String(header), id) : undefined;
  let bytes: Buffer = NO_BYTES;
  if (body !== undefined) {
    bytes = await readJsonBody(context, body, MEDIA_TYPES[method === 'PATCH' ? 'PATCH' : 'POST']);
    context.body = parseObject(body.schema, parseBody(bytes));
  }
  if (hash === undefined || key === undefined) return;
  const fingerprint = fingerprintOf(match.values, bytes);
  const { status } = answer;
  context.idempotency = { accountId: key.account.id, key: hash, fingerprint, status, location, waits };
}

/** An issue of the body is part of the patch, because 404, 412 and 409 come before it. */
async function readPatchBody(body: Expected, context: Sent) {
  try {
    const bytes = await readJsonBody(context, body, MEDIA_TYPES.PATCH);
    return readPatch(body.schema, parseBody(bytes));
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'invalid_request')
      return unreadablePatch(error.message);
    throw error;
  }
}

const NO_BYTES = Buffer.alloc(0);

/** A request, and how long it waits for its body. */
type Sent = Pick<RequestContext, 'request' | 'waits'>;

/** What the body of an operation must be. `limit` is in bytes. */
type Expected = Pick<NonNullable<Operation['body']>, 'schema' | 'limit'>;

/**
 * Reads a whole JSON body. A message about a missing body says what it must be.
 * @throws ServiceError `invalid_request` when there is none, `unsupported_media_type` when it has none of these
 * media types, another charset than UTF-8 or a content encoding, `payload_too_large` beyond the limit.
 * @throws ClientGone when the connection ends first.
 */
export async function readJsonBody(
  context: Sent,
  { schema, limit }: Expected,
  types: readonly string[],
): Promise<Buffer> {
  const { 'content-type': type, 'content-encoding': encoding } = context.request.headers;
  const issue =
    findTypeIssue(types, type) ?? ((encoding ?? 'identity') === 'identity' ? undefined : BODY_ENCODED);
  const refused = issue === undefined ? undefined : new ServiceError('unsupported_media_type', issue);
  const body = await readBytes(context, refused, limit);
  if (body.length === 0) throw new ServiceError('invalid_request', bodyMissing(expectation(schema)));
  return body;
}

/**
 * Reads the content of a request, however it is framed. Throws `refused` if there is any: a length announces it, and only
 * its first byte shows that a chunked request has some.
 */
async function readBytes(
  { request, waits }: Sent,
  refused?: ServiceError,
  limit = BODY_LIMIT,
): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (coding === undefined) {
    if (Number(length ?? 0) === 0) return NO_BYTES;
    if (refused !== undefined) throw refused;
    if (Number(length) > limit) throw tooLarge(limit);
  }
  // It closed while the steps before waited, and no event will follow.
  if (request.destroyed && !request.complete) throw new ClientGone('The client went away.');
  return request.complete ? buffered(request, limit, refused) : waits.until(read(request, limit, refused));
}

/**
 * The body of a request that has arrived completely, as most have by now. Reading it needs no events. Throws `refused` if
 * there is a body.
 */
function buffered(request: IncomingMessage, limit: number, refused?: ServiceError): Buffer {
  const chunks: Buffer[] = [];
  for (let chunk = next(request); chunk !== null; chunk = next(request)) chunks.push(chunk);
  const body = joined(chunks);
  if (refused !== undefined && body.length > 0) throw refused;
  if (body.length > limit) throw tooLarge(limit);
  return body;
}

function next(request: IncomingMessage): Buffer | null {
  return request.read() as Buffer | null;
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** The body of a request that is still arriving. Rejects with `refused` at its first byte. */
function read(request: IncomingMessage, limit: number, refused?: ServiceError): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      if (refused !== undefined) reject(refused);
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      // The rest is read and dropped, so that the answer reaches a client that is still sending.
      else reject(tooLarge(limit));
    });
    request.on('end', () => resolve(joined(chunks)));
    request.on('error', (error) => reject(new ClientGone('The client went away.', { cause: error })));
    request.on('close', () => {
      if (!request.complete) reject(new ClientGone('The client went away.'));
    });
  });
}

/** What is wrong with a `Content-Type`. The media type may have parameters, but no other charset than UTF-8. */
function findTypeIssue(types: readonly string[], contentType = ''): string | undefined {
  if (contentType === 'application/json') return undefined;
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!types.includes(type)) return otherMediaType(types);
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return charset === undefined || /^charset="?utf-?8"?$/.test(charset) ? undefined : OTHER_CHARSET;
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError('payload_too_large', describeLimit(limit));
}
