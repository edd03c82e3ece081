/*
 * Header fields and bodies as they go to the socket.
 */

declare const isFields: unique symbol;

/**
 * Header fields of a response as they are sent: `Name: value` and CRLF, one after the other. May be empty. Only the
 * functions of this file make them, so no value from outside can end its line and add a field (RFC 9110, section 5.5).
 */
export type Fields = string & { readonly [isFields]: true };

export const NO_FIELDS = '' as Fields;

/**
 * Header fields of names and values in turn.
 * @throws TypeError when a value has a control character or one beyond Latin-1.
 */
export function fields(...pairs: readonly string[]): Fields {
  const parts: string[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const value = pairs[i + 1] ?? '';
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new TypeError(`The value of ${pairs[i]} has a control or wide character.`);
    parts.push(pairs[i] ?? '', ': ', value, '\r\n');
  }
  return parts.join('') as Fields;
}

/** All these header fields, in this order. */
export function joinFields(one: Fields, two: Fields, three = NO_FIELDS, four = NO_FIELDS): Fields {
  return `${one}${two}${three}${four}` as Fields;
}

/**
 * Header fields that need no check, because all their values are numbers, in base64url, or have passed a stricter check:
 * the rate headers, `ETag` and `X-Request-Id`.
 */
export function trustedFields(text: string): Fields {
  return text as Fields;
}

/** The names and values of header fields, in turn. */
export function namesAndValues(text: Fields): string[] {
  return text.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(': ');
    return colon === -1 ? [] : [line.slice(0, colon), line.slice(colon + 2)];
  });
}

declare const isOctets: unique symbol;

/**
 * A body as a string with one character, U+0000 to U+00FF, for each byte. It is sent as `latin1`, a plain copy. Any
 * other string would be encoded again for each answer, together with its header fields.
 */
export type Octets = string & { readonly [isOctets]: true };

/** `text` in UTF-8. */
export function octets(text: string): Octets {
  const isAscii = Buffer.byteLength(text) === text.length;
  return (isAscii ? text : Buffer.from(text).toString('latin1')) as Octets;
}
