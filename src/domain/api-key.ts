// Contract: sections 1 and 5.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The two environments a key can belong to and the prefix that shows it. */
export const PREFIXES = { production: 'petstore_live_', staging: 'petstore_test_' } as const;

export type Environment = keyof typeof PREFIXES;

export const ENVIRONMENTS = Object.keys(PREFIXES) as readonly Environment[];

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** What each character of the alphabet counts, by its code. */
const DIGITS = new Map(Array.from(ALPHABET, (character, digit) => [character.charCodeAt(0), digit]));
const DIGIT_OF_CODE = Array.from({ length: 128 }, (_, code) => DIGITS.get(code) ?? -1);

/** Whether a key of ours may stand in a text, whole or mistyped. */
export function mayHoldApiKey(text: string): boolean {
  return Object.values(PREFIXES).some((prefix) => text.includes(prefix));
}

/** Fills a buffer of the given length with bytes of a cryptographic random source. */
export type RandomBytes = (length: number) => Uint8Array;

/** SHA-256 of an API key: all that is ever stored of one. It prints as its type, not as its value. */
export class ApiKeyHash {
  readonly #hex: string;

  constructor(hex: string) {
    this.#hex = hex;
  }

  get hex(): string {
    return this.#hex;
  }
}

/** A plain API key. No log, error or dump can print it: only `reveal` gives the text. */
export class ApiKey {
  readonly environment: Environment;
  readonly #text: string;

  private constructor(environment: Environment, text: string) {
    this.environment = environment;
    this.#text = text;
  }

  /** A new key of `environment`: prefix, 32 random base62 characters, 6 of their CRC-32. */
  static generate(environment: Environment, random: RandomBytes): ApiKey {
    let secret = '';
    while (secret.length < SECRET_LENGTH) {
      for (const byte of random(SECRET_LENGTH)) {
        // 248 = 4 × 62: bytes above it would make the first characters likelier than the last.
        if (byte < 248 && secret.length < SECRET_LENGTH) secret += ALPHABET[byte % 62];
      }
    }
    return new ApiKey(environment, PREFIXES[environment] + secret + checksum(secret));
  }

  /** The key that `text` spells, or undefined when it has not the format or its checksum is wrong. */
  static parse(text: string): ApiKey | undefined {
    const environment = ENVIRONMENTS.find((each) => text.startsWith(PREFIXES[each]));
    if (environment === undefined) return undefined;
    const begin = PREFIXES[environment].length;
    const end = begin + SECRET_LENGTH;
    if (text.length !== end + CHECKSUM_LENGTH) return undefined;
    // Each character for itself: a regular expression that counts takes twice as long, and each request reads a key.
    let sum = 0;
    for (let i = begin; i < text.length; i++) {
      const digit = DIGIT_OF_CODE[text.charCodeAt(i)] ?? -1;
      if (digit === -1) return undefined;
      if (i >= end) sum = sum * ALPHABET.length + digit;
    }
    return sum === crc32(text.slice(begin, end)) ? new ApiKey(environment, text) : undefined;
  }

  reveal(): string {
    return this.#text;
  }

  hash(): ApiKeyHash {
    return new ApiKeyHash(hash('sha256', this.#text, 'hex'));
  }
}

function checksum(secret: string): string {
  let rest = crc32(secret);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
