import { isUtf8 } from 'node:buffer';

/** Bytes. A longer line is refused, so that a file without line ends cannot fill the memory. */
export const LINE_MAX = 1024 * 1024;

const LINE_FEED = 10;

/** One line of a file, without its line feed. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** As they came. Undefined when the line is too long to keep. */
  readonly bytes: Buffer | undefined;
  /** Why the line cannot be read. */
  readonly fault: string | undefined;
}

/** The lines of a file while it is read. Drops a byte order mark at its beginning. */
export async function* readLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;
  const append = (piece: Buffer) => {
    length += piece.length;
    if (length <= LINE_MAX) pieces.push(piece);
  };
  const take = (): Line => {
    const line = length > LINE_MAX ? tooLong(number) : decode(number, pieces);
    number++;
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      append(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    append(chunk.subarray(start));
  }
  if (length > 0) yield take();
}

function tooLong(number: number): Line {
  return { number, text: '', bytes: undefined, fault: `the line is longer than ${LINE_MAX} bytes.` };
}

function decode(number: number, pieces: readonly Buffer[]): Line {
  const bytes = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  const text = bytes.toString('utf8');
  return {
    number,
    bytes,
    text: number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text,
    fault: isUtf8(bytes) ? undefined : 'the line is not encoded in UTF-8.',
  };
}
