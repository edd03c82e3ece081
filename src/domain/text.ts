// Contract: section 2.
import { WITHOUT_KEY } from './api-key.ts';
import type { Failure } from './result.ts';

const NAME = new RegExp(`${WITHOUT_KEY}(?!\\s)[^\\p{Cc}\\p{Cs}]{1,100}(?<!\\s)$`, 'u');

/**
 * Equal for names that differ in case only, as Unicode folds them (CaseFolding.txt, C and F). Upper case joins ß with ss, and
 * both small sigmas. Lower case comes before it, because ẞ is its own upper case. The dotless ı is a letter of its own,
 * though its upper case is that of i.
 */
export function foldedName(name: string): string {
  const folded = name
    .normalize('NFC')
    .replaceAll(/[^ı]+/g, (part) => part.toLowerCase().toUpperCase().toLowerCase());
  return folded.normalize('NFC');
}

/** The text, or its beginning and an ellipsis: at most `most` characters, none of which is half a surrogate pair. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = Array.from(text.slice(0, 2 * most));
  return characters.length <= most && text.length <= 2 * most
    ? text
    : `${characters.slice(0, most - 1).join('')}…`;
}

/** A string of its own: V8 holds a whole text as long as a part of it lives. */
export function copyText(text: string): string {
  return Buffer.from(text).toString();
}

/** Whether a text contains a part, ignoring case as `foldedName` does. */
export function isPartOf(part: string): (text: string) => boolean {
  const folded = foldedPart(part);
  return (text) => foldedPart(text).includes(folded);
}

/** For a search: `foldedName` has another sigma at the end of a word, where a part of the word may go on. */
export function foldedPart(text: string): string {
  return foldedName(text).replaceAll('ς', 'σ');
}

/** Why a text cannot be the name of an account, an operator or a passkey, or undefined if it can. */
export function findNameIssue(
  kind: 'account' | 'operator' | 'passkey',
  text: string,
): Failure<'invalid_request'> | undefined {
  if (NAME.test(text)) return undefined;
  const article = kind === 'passkey' ? 'A' : 'An';
  const message = `${article} ${kind} name has 1 to 100 characters, no control characters, no white space at its ends and no API key.`;
  return { error: 'invalid_request', message };
}
