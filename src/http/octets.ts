declare const isOctets: unique symbol;

/**
 * The octets of a body as a text, a character of U+0000 to U+00FF for each: in `latin1` it goes out as it is. A text in
 * UTF-16 would be copied and encoded anew with each answer, together with the header fields in front of it.
 */
export type Octets = string & { readonly [isOctets]: true };

/** What `text` is in UTF-8. */
export function octets(text: string): Octets {
  const isAscii = Buffer.byteLength(text) === text.length;
  return (isAscii ? text : Buffer.from(text).toString('latin1')) as Octets;
}
