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

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly 'x-deprecated-sunset'?: string;
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
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly 'x-tagGroups': readonly { readonly name: string; readonly tags: readonly string[] }[];
  readonly paths: Paths;
  readonly components: Components;
}
