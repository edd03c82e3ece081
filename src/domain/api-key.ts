// Contract: sections 1, 5 and 10.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The two environments that a key can belong to, and the prefix of their keys. */
export const PREFIXES = { production: 'petstore_live_', staging: 'petstore_test_' } as const;

export type Environment = keyof typeof PREFIXES;

export const ENVIRONMENTS = Object.keys(PREFIXES) as readonly Environment[];

/** The prefix of an operator's token. */
export const TOKEN_PREFIX = 'petstore_admin_';

const ALL_PREFIXES = [...Object.values(PREFIXES), TOKEN_PREFIX];

/** The start of a regular expression for a text that may hold no key and no token, because lists and logs show it. */
export const WITHOUT_KEY = `^(?![^]*(?:${ALL_PREFIXES.join('|')}))`;

/** Fills a buffer of the given length with bytes of a cryptographic random source. */
export type RandomBytes = (length: number) => Uint8Array;

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
    for (const environment of ENVIRONMENTS)
      if (isSecret(text, PREFIXES[environment])) return new ApiKey(environment, text);
    return undefined;
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

/* The text of a key or token. */

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** The value of each character by its code, or −1. */
const DIGIT_OF_CODE = Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** `prefix`, 32 random base62 characters, and 6 of their CRC-32. */
export function newSecret(prefix: string, random: RandomBytes): string {
  let secret = '';
  while (secret.length < SECRET_LENGTH) {
    for (const byte of random(SECRET_LENGTH)) {
      // 248 is 4 × 62. Larger bytes would make the first characters of the alphabet more likely than the others.
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += ALPHABET[byte % 62];
    }
  }
  return prefix + secret + checksum(secret);
}

/** Whether `text` is the prefix and a secret whose format and checksum are right. */
export function isSecret(text: string, prefix: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const begin = prefix.length;
  const end = begin + SECRET_LENGTH;
  if (text.length !== end + CHECKSUM_LENGTH) return false;
  // A loop, because a regular expression takes twice as long, and each request reads a key.
  let sum = 0;
  for (let i = begin; i < text.length; i++) {
    const digit = DIGIT_OF_CODE[text.charCodeAt(i)] ?? -1;
    if (digit === -1) return false;
    if (i >= end) sum = sum * ALPHABET.length + digit;
  }
  return sum === crc32(text.slice(begin, end));
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
