// Contract: section 2.
import { WITHOUT_KEY } from './api-key.ts';
import type { Failure } from './result.ts';

const NAME = new RegExp(`${WITHOUT_KEY}(?!\\s)[^\\p{Cc}\\p{Cs}]{1,100}(?<!\\s)$`, 'u');

/**
 * Equal for names that differ in case only. Upper case joins ß with ss, and both small sigmas. Lower case comes before it,
 * because ẞ is its own upper case.
 */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** Why a text cannot be the name of an account, an operator or a passkey, or undefined if it can. */
export function findNameFault(
  kind: 'account' | 'operator' | 'passkey',
  text: string,
): Failure<'invalid_request'> | undefined {
  if (NAME.test(text)) return undefined;
  const article = kind === 'passkey' ? 'A' : 'An';
  const message = `${article} ${kind} name has 1 to 100 characters, no control characters, no white space at its ends and no API key.`;
  return { error: 'invalid_request', message };
}
