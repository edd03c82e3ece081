import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { entityTag } from '../domain/json.ts';
import { lazy } from '../domain/lazy.ts';
import { isUnmodified } from './response.ts';
import { type Fields, fields, joinFields, NO_FIELDS } from 'direct-http';
import type { Response } from './context.ts';

const withBrotli = promisify(brotliCompress);
const withGzip = promisify(gzip);

/** The content codings that the service offers, the best first. */
const CODINGS = {
  br: (body: Buffer) =>
    withBrotli(body, {
      // Nearly as small as the highest quality, which takes ten times as long.
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body: Buffer) => withGzip(body),
} as const;

type Coding = keyof typeof CODINGS | 'identity';

interface Encoded {
  readonly body: Buffer;
  readonly tag: string;
}

/** A body that stays the same while the service runs, compressed if the client accepts that (RFC 9110, section 12.5.3). */
export class Content {
  readonly #load: () => Promise<Buffer>;
  readonly #headers: Fields;
  readonly #encoded = new Map<Coding, Promise<Encoded>>();

  /** `load` gives the bytes when they are first needed. */
  constructor(type: string, load: () => string | Buffer | Promise<string | Buffer>, headers: Fields) {
    this.#load = lazy(async () => Buffer.from(await load()));
    this.#headers = joinFields(
      fields('Content-Type', type, 'X-Content-Type-Options', 'nosniff', 'Vary', 'Accept-Encoding'),
      headers,
    );
  }

  async respond(request: Pick<IncomingMessage, 'headers'>): Promise<Response> {
    const coding = acceptedCoding(request.headers['accept-encoding']);
    const { body, tag } = await this.#in(coding);
    const all = joinFields(this.#headers, fields('ETag', tag));
    if (isUnmodified(request, tag)) return { status: 304, headers: all };
    return {
      status: 200,
      headers: coding === 'identity' ? all : joinFields(all, fields('Content-Encoding', coding)),
      body,
    };
  }

  /** Makes what the first requests would make. */
  async prepare(): Promise<void> {
    for (const coding of ['identity', ...(Object.keys(CODINGS) as Coding[])] as const) await this.#in(coding);
  }

  #in(coding: Coding): Promise<Encoded> {
    const known = this.#encoded.get(coding);
    if (known !== undefined) return known;
    const encoded = this.#encode(coding);
    this.#encoded.set(coding, encoded);
    // A failure is not kept, so the next request tries again.
    encoded.catch(() => this.#encoded.delete(coding));
    return encoded;
  }

  async #encode(coding: Coding): Promise<Encoded> {
    const plain = await this.#load();
    const body = coding === 'identity' ? plain : await CODINGS[coding](plain);
    return { body, tag: entityTag(body) };
  }
}

const OPEN = fields('Access-Control-Allow-Origin', '*', 'Cache-Control', 'no-cache');

/** Content that programs on any site may read. */
export function openContent(
  type: string,
  load: () => string | Promise<string>,
  headers = NO_FIELDS,
): Content {
  return new Content(type, load, joinFields(OPEN, headers));
}

function acceptedCoding(header: string | string[] | undefined): Coding {
  const accepted = new Set(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .filter((item) => !/;\s*q=0(?:\.0*)?\s*$/.test(item))
      .map((item) => item.split(';')[0]?.trim()),
  );
  return (Object.keys(CODINGS) as Coding[]).find((coding) => accepted.has(coding)) ?? 'identity';
}
