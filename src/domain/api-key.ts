// Contract: sections 1 and 5.
import { hash } from 'node:crypto';
import { isSecret, newSecret, type RandomBytes } from './secret.ts';

/** The two environments that a key can belong to, and the prefix of their keys. */
export const PREFIXES = { production: 'petstore_live_', staging: 'petstore_test_' } as const;

export type Environment = keyof typeof PREFIXES;

export const ENVIRONMENTS = Object.keys(PREFIXES) as readonly Environment[];

/** The prefix of an operator's token. */
export const TOKEN_PREFIX = 'petstore_admin_';

const ALL_PREFIXES = [...Object.values(PREFIXES), TOKEN_PREFIX];

/** Whether a text may contain a key of this service or a token of an operator, even a mistyped one. */
export function mayHoldApiKey(text: string): boolean {
  return ALL_PREFIXES.some((prefix) => text.includes(prefix));
}

/** The SHA-256 of an API key. The store holds nothing else of a key. It prints as its type, not as its value. */
export class ApiKeyHash {
  readonly #hex: string;

  constructor(hex: string) {
    this.#hex = hex;
  }

  get hex(): string {
    return this.#hex;
  }
}

/** A plain API key. No log, error or dump can print it, because only `reveal` gives the text. */
export class ApiKey {
  readonly environment: Environment;
  readonly #text: string;

  private constructor(environment: Environment, text: string) {
    this.environment = environment;
    this.#text = text;
  }

  /** A new key of `environment`: prefix, 32 random base62 characters, 6 of their CRC-32. */
  static generate(environment: Environment, random: RandomBytes): ApiKey {
    return new ApiKey(environment, newSecret(PREFIXES[environment], random));
  }

  /** The key in `text`, or undefined when the format or the checksum is wrong. */
  static parse(text: string): ApiKey | undefined {
    const environment = ENVIRONMENTS.find((each) => text.startsWith(PREFIXES[each]));
    if (environment === undefined || !isSecret(text, PREFIXES[environment])) return undefined;
    return new ApiKey(environment, text);
  }

  reveal(): string {
    return this.#text;
  }

  /** Its last four characters, by which a person recognizes the key. They belong to the checksum. */
  get ending(): string {
    return this.#text.slice(-4);
  }

  hash(): ApiKeyHash {
    return new ApiKeyHash(hash('sha256', this.#text, 'hex'));
  }
}
