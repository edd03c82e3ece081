import { isAscii, isUtf8 } from 'node:buffer';

/** Bytes. A longer line is refused, so that a file without line ends cannot fill the memory. */
export const LINE_MAX = 1024 * 1024;

const LINE_FEED = 10;

/** One line of a file, without its line end. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** As they came. Undefined when the line is too long to keep. */
  readonly bytes: Buffer | undefined;
  /** Why the line cannot be read. */
  readonly issue: string | undefined;
}

/** The encodings of a line. Bytes of UTF-16 come as UTF-8. */
export type LineEncoding = 'utf-8' | 'utf-16' | 'windows-1252';

const ISSUES: Readonly<Record<LineEncoding, string>> = {
  'utf-8':
    'the line is not encoded in UTF-8. If the file is in Windows-1252, import it with --encoding windows-1252.',
  'utf-16': 'the line is not encoded in UTF-16.',
  'windows-1252': 'the line is not encoded in Windows-1252.',
};

/** These bytes stand for nothing in Windows-1252. */
const UNDEFINED_BYTES = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

const WINDOWS_1252 = new TextDecoder('windows-1252');

/** Reads the text of lines. Without an encoding, the first line that is not ASCII decides (docs/design/cli.md). */
export class LineDecoder {
  #encoding: LineEncoding | undefined;
  readonly #isGuess: boolean;

  constructor(encoding: LineEncoding | undefined) {
    this.#encoding = encoding;
    this.#isGuess = encoding === undefined;
  }

  /** UTF-8 while every line is ASCII, which is the same in both. */
  get encoding(): LineEncoding {
    return this.#encoding ?? 'utf-8';
  }

  decode(bytes: Buffer): Pick<Line, 'text' | 'issue'> {
    if (isAscii(bytes)) return { text: bytes.toString('latin1'), issue: undefined };
    const isUnicode = isUtf8(bytes);
    this.#encoding ??= isUnicode || !isWindows1252(bytes) ? 'utf-8' : 'windows-1252';
    if (this.#encoding !== 'windows-1252')
      return { text: bytes.toString('utf8'), issue: isUnicode ? undefined : ISSUES[this.#encoding] };
    // Real text of Windows-1252 is hardly ever UTF-8, too.
    const isOther = this.#isGuess && isUnicode;
    const issue = isOther
      ? 'the line is encoded in UTF-8, and one before it in Windows-1252: choose with --encoding.'
      : ISSUES['windows-1252'];
    return { text: WINDOWS_1252.decode(bytes), issue: isOther || !isWindows1252(bytes) ? issue : undefined };
  }
}

function isWindows1252(bytes: Buffer): boolean {
  return !UNDEFINED_BYTES.some((byte) => bytes.includes(byte));
}

/** The lines of a file while it is read. Drops a byte order mark at its beginning. */
export async function* readLines(
  bytes: AsyncIterable<Buffer>,
  decoder = new LineDecoder('utf-8'),
  lineEnd = LINE_FEED,
): AsyncGenerator<Line, undefined> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;
  const append = (piece: Buffer) => {
    length += piece.length;
    if (length <= LINE_MAX) pieces.push(piece);
  };
  const take = (): Line => {
    const whole = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
    const line = length > LINE_MAX ? tooLong(number) : decodeLine(number, whole, decoder);
    number++;
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      append(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    append(chunk.subarray(start));
  }
  if (length > 0) yield take();
}

export function tooLong(number: number): Line {
  return { number, text: '', bytes: undefined, issue: `the line is longer than ${LINE_MAX} bytes.` };
}

export function decodeLine(number: number, bytes: Buffer, decoder: LineDecoder): Line {
  const { text, issue } = decoder.decode(bytes);
  return { number, bytes, text: number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text, issue };
}
