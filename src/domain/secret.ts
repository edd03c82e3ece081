// Contract: sections 5 and 10.
import { crc32 } from 'node:zlib';

/** Fills a buffer of the given length with bytes of a cryptographic random source. */
export type RandomBytes = (length: number) => Uint8Array;

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
