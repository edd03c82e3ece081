// Contract: section 9.
import type { z } from 'zod';
import type { Example } from '../http/operation.ts';

/* The parts of OpenAPI 3.1 that the description is made of. */

export type Schema = z.core.JSONSchema.BaseSchema;

export interface Ref {
  readonly $ref: `#/components/${string}`;
}

export type Refs = Readonly<Record<string, Ref>>;

interface Media {
  readonly schema: Schema | Ref;
  readonly examples: Readonly<Record<string, Example>>;
}

export interface Content {
  readonly 'application/json': Media;
  readonly 'application/merge-patch+json'?: Media;
}

export interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly example: unknown;
}

export type Headers = Readonly<Record<string, Ref | Header>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: Schema | Ref;
  readonly example: string | number | boolean | readonly number[] | readonly string[];
  readonly style?: 'form';
  readonly explode?: true;
}

export interface Response {
  readonly description: string;
  readonly headers: Headers;
  readonly content?: Content;
}
