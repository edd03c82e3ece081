// Contract: section 9.
import type { z } from 'zod';
import type { Example } from '../api/operation.ts';

/* The parts of OpenAPI 3.1 that the description is made of. */

export type Schema = z.core.JSONSchema.BaseSchema;

export interface Ref {
  readonly $ref: `#/components/${string}`;
}

export type Refs = Readonly<Record<string, Ref>>;

export interface Content {
  readonly 'application/json': {
    readonly schema: Schema | Ref;
    readonly examples: Readonly<Record<string, Example>>;
  };
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: Schema | Ref;
  readonly example: string | number | readonly number[];
}

export interface Response {
  readonly description: string;
  readonly headers: Refs;
  readonly content?: Content;
}
