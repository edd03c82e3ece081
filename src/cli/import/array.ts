import { decodeLine, type Line, type LineDecoder, LINE_MAX, tooLong } from './lines.ts';

const [QUOTE, BACKSLASH, COMMA, LINE_FEED, RETURN, SPACE] = [0x22, 0x5c, 0x2c, 0x0a, 0x0d, 0x20];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const BLANKS = new Set([SPACE, 0x09, LINE_FEED, RETURN]);

/** The elements of a JSON array while it is read. Each is a line of NDJSON, numbered by the line where it begins. */
export async function* arrayElements(
  bytes: AsyncIterable<Buffer>,
  decoder: LineDecoder,
): AsyncGenerator<Line, undefined> {
  let number = 1;
  /** 0: before the array or behind it, 1: between its elements, more: within one. */
  let depth = 0;
  let state: 'before' | 'within' | 'behind' = 'before';
  let isText = false;
  let isEscaped = false;
  let pieces: Buffer[] = [];
  let length = 0;
  let begin = 1;
  const append = (piece: Buffer) => {
    length += piece.length;
    if (length <= LINE_MAX) pieces.push(piece);
  };
  const take = (): Line => {
    const line = length > LINE_MAX ? tooLong(begin) : decodeLine(begin, oneLine(pieces), decoder);
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of bytes) {
    /** Where the part of the element in this chunk begins. -1: between elements. */
    let start = length > 0 ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === LINE_FEED) number++;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
        continue;
      }
      if (state === 'before') {
        if (!OPENING.has(byte)) continue;
        state = 'within';
        depth = 1;
        continue;
      }
      if (state === 'behind') {
        if (BLANKS.has(byte)) continue;
        yield { number, text: '', bytes: undefined, issue: 'the array ends before this text.' };
        return;
      }
      const isEnd = depth === 1 && (byte === COMMA || CLOSING.has(byte));
      if (isEnd) {
        if (start !== -1) {
          append(chunk.subarray(start, at));
          yield take();
          start = -1;
        }
        if (byte !== COMMA) state = 'behind';
        continue;
      }
      if (start === -1) {
        if (BLANKS.has(byte)) continue;
        start = at;
        begin = number;
      }
      if (byte === QUOTE) isText = true;
      else if (OPENING.has(byte)) depth++;
      else if (CLOSING.has(byte)) depth--;
    }
    if (start !== -1) append(chunk.subarray(start));
  }
  if (length > 0) yield take();
  if (state !== 'behind')
    yield { number, text: '', bytes: undefined, issue: 'the file ends before its array does.' };
}

/** Text of JSON holds no line end, so that those of an element are blanks. */
function oneLine(pieces: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(pieces);
  for (const [at, byte] of bytes.entries()) if (byte === LINE_FEED || byte === RETURN) bytes[at] = SPACE;
  return bytes;
}
