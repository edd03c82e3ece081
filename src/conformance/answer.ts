import { toJson } from '../domain/json.ts';
import { elements, isObject, type Json } from './json.ts';
import type { ContractOperation } from './description.ts';
import type { Received } from './transport.ts';
import type { Bucket, Counted } from './windows.ts';

/** A request below the base address, or, without `isApi`, beside it. */
export interface Request {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Another key, or none. */
  readonly key?: string | null;
  /** On a connection of its own; with a text, at this address of the host. */
  readonly fresh?: true | string;
  /** Of a page beside the API. */
  readonly isPage?: true;
}

/** An answer, with what is known of its request. */
export interface Answer extends Received {
  readonly request: Request;
  readonly text: string;
  /** Undefined if the body is no JSON. */
  readonly json: Json | undefined;
  readonly operation: ContractOperation | undefined;
  /** Undefined for a page, and for OPTIONS, which counts nowhere. */
  readonly bucket: Bucket | undefined;
  /** The answer before it that was counted in the same windows. */
  readonly before: Counted | undefined;
  /** Its own rate headers, if they have the right form. */
  readonly counted: Counted | undefined;
}

/** What was expected of an answer, and what came. */
export interface Issue {
  readonly expected: string;
  readonly came: string;
}

/** An issue with the request that showed it. */
export interface Finding extends Issue {
  readonly request: string;
}

/** The body as JSON, the same for the same values. A member that is null counts as absent: rules tell the difference. */
export function asText({ json }: Pick<Answer, 'json'>): string {
  return json === undefined ? '' : toJson(withoutNulls(json));
}

export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return elements(value).map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner = null]) => [
      name,
      inner === null ? undefined : withoutNulls(inner),
    ]),
  );
}

/** Characters of a value that a report repeats. */
const SHOWN = 200;

/** A text of a stranger in a report: one line, short, without keys and secrets. */
export function show(text: string): string {
  const plain = text
    .replaceAll(/petstore_[a-z]+_\w{8,}/g, '(a key)')
    .replaceAll(/whsec_[\w+/=]{8,}/g, '(a secret)')
    .replaceAll(/\s+/g, ' ');
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain;
}

/** What came, in short: status, code, and the beginning of the body. */
export function describeAnswer({
  status,
  text,
  request,
}: Pick<Answer, 'status' | 'text' | 'request'>): string {
  return text === '' || request.method === 'HEAD' ? `${status}` : `${status} ${show(text)}`;
}

export function describeRequest({ method, path, isPage, key, headers = {}, body }: Request): string {
  const names = Object.keys(headers).map((name) => `${name}: ${headers[name]}`);
  const parts = [
    ...(key === null ? ['without a key'] : key === undefined ? [] : ['with another key']),
    ...(names.length === 0 ? [] : [`with ${names.join(', ')}`]),
    ...(body === undefined ? [] : [typeof body === 'string' ? body : `${body.length} bytes`]),
  ];
  return show([`${method} ${isPage ? path : `/v1${path}`}`, ...parts].join(' '));
}
