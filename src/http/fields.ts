import { STATUS_CODES } from './node-http.ts';

/** Header fields of a response as they go over the wire: `Name: value` and CRLF, one after the other; may be empty. */
export type Fields = string;

/**
 * Header fields of names and values in turn.
 * @throws TypeError when a value could end its line: nothing that comes from outside may add a field (RFC 9110 §5.5).
 */
export function fields(...pairs: readonly string[]): Fields {
  let text = '';
  for (let i = 0; i < pairs.length; i += 2) {
    const value = pairs[i + 1] ?? '';
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new TypeError(`The value of ${pairs[i]} has a control or wide character.`);
    text += `${pairs[i]}: ${value}\r\n`;
  }
  return text;
}

/** The names and values of header fields, in turn. */
export function namesAndValues(text: Fields): string[] {
  return text.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(': ');
    return colon === -1 ? [] : [line.slice(0, colon), line.slice(colon + 2)];
  });
}

/** The first line of a response, by its status. */
export const STATUS_LINES: readonly string[] = Array.from(
  { length: 600 },
  (_, status) => `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`,
);

let dateEnd = 0;
let date = '';

/** The instant `now` (Unix milliseconds) as a `Date` field gives it (RFC 9110 §5.6.7), made once a second. */
export function httpDate(now: number): string {
  if (now >= dateEnd || now < dateEnd - 1000) {
    dateEnd = Math.floor(now / 1000) * 1000 + 1000;
    date = new Date(now).toUTCString();
  }
  return date;
}
