// Contract: section 4.
import type { IncomingMessage } from 'node:http';
import { PetStoreError } from '../domain/errors.ts';
import { bodyTooLarge, NOT_JSON } from './messages.ts';

/** The largest body that is read, in bytes. */
export const BODY_LIMIT = 16 * 1024;

/** The client went away before its request was complete: there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * Reads a JSON body whole.
 * @throws PetStoreError `invalid_request` when there is none, `unsupported_media_type` when it is not
 * `application/json`, `payload_too_large` beyond 16 KiB.
 * @throws ClientGone when the connection ends first.
 */
export async function readJsonBody(request: IncomingMessage): Promise<Buffer> {
  const { 'content-length': length, 'content-type': type, 'content-encoding': encoding } = request.headers;
  const chunked = request.headers['transfer-encoding'] !== undefined;
  if (!chunked && (length === undefined || Number(length) === 0)) throw missing();
  if (type === undefined || !isJson(type) || (encoding ?? 'identity') !== 'identity') {
    throw new PetStoreError('unsupported_media_type', NOT_JSON);
  }
  if (Number(length) > BODY_LIMIT) throw tooLarge();
  const body = request.complete ? buffered(request) : await read(request);
  if (body.length === 0) throw missing();
  return body;
}

/** A body that is all here, as most are by the time that anybody asks: there is nothing to listen for. */
function buffered(request: IncomingMessage): Buffer {
  const chunks: Buffer[] = [];
  for (let chunk = next(request); chunk !== null; chunk = next(request)) chunks.push(chunk);
  const body = joined(chunks);
  if (body.length > BODY_LIMIT) throw tooLarge();
  return body;
}

function next(request: IncomingMessage): Buffer | null {
  return request.read() as Buffer | null;
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function read(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT) chunks.push(chunk);
      // What follows is read and dropped, so that the answer reaches a client that is still sending.
      else reject(tooLarge());
    });
    request.on('end', () => resolve(joined(chunks)));
    request.on('error', (error) => reject(new ClientGone('The client went away.', { cause: error })));
    request.on('close', () => {
      if (!request.complete) reject(new ClientGone('The client went away.'));
    });
  });
}

/** Any parameter but another character set is as good as none. */
function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

function missing(): PetStoreError {
  return new PetStoreError(
    'invalid_request',
    'The body is missing: send a JSON object with name and categoryId.',
  );
}

function tooLarge(): PetStoreError {
  return new PetStoreError('payload_too_large', bodyTooLarge(BODY_LIMIT));
}
