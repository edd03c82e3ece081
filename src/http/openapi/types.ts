// Contract: section 9.
import type { z } from 'zod';

/** The parts of OpenAPI 3.1 that the description uses. */
export type Schema = z.core.JSONSchema.BaseSchema;

export interface Ref {
  readonly $ref: `#/components/${string}`;
}

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

export interface MediaType {
  readonly schema: Schema | Ref;
  readonly examples: Readonly<Record<string, Example>>;
}

export type Content = Readonly<Record<'application/json', MediaType>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: Schema | Ref;
  readonly example: string | number;
}

export interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number | boolean;
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Ref>>;
  readonly content?: Content;
}

/** By status, or `default`. */
export type Responses = Readonly<Record<string, Response>>;

/** How far an operation may be relied on; without it: fully. */
export type Stability = 'experimental' | 'beta';

export interface Badge {
  readonly name: string;
  readonly color: string;
}

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-stability'?: Stability;
  readonly 'x-badges'?: readonly Badge[];
  readonly 'x-codeSamples'?: readonly CodeSample[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Ref[];
  readonly requestBody?: { readonly required: true; readonly description: string; readonly content: Content };
  readonly responses: Responses;
}

export type Method = 'get' | 'post';

export type Paths = Readonly<Record<string, Readonly<Partial<Record<Method, OperationObject>>>>>;

export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly headers: Readonly<Record<string, Header>>;
  readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Description {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly {
    readonly url: string;
    readonly description: string;
    /** Whether it is meant for the house alone. */
    readonly 'x-internal': boolean;
  }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: Components;
}
