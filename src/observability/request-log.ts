import { type Logger, pino } from 'pino';
import type { ErrorCode } from '../domain/errors.ts';

/** An answered request. Only the account's name can hold characters that need escaping. */
export interface RequestEntry {
  readonly id: string;
  readonly key: { readonly id: number; readonly account: { readonly name: string } } | undefined;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly code: ErrorCode | undefined;
  /** Whole microseconds of work, and of waits for others. */
  readonly durationUs: number;
  readonly waitedUs: number;
}

/** The parts that pino makes its lines of. Its types do not have them. */
interface Parts {
  readonly [pino.symbols.chindingsSym]: string;
  readonly [pino.symbols.lsCacheSym]: Readonly<Record<number, string>>;
  readonly [pino.symbols.streamSym]: { write(line: string): void };
  readonly [pino.symbols.timeSym]: () => string;
}

const INFO = 30;

/** The format of a line, except for its time. */
export const LINE_FORMAT = { base: null, formatters: { level: (level: string) => ({ level }) } };

/** The time of a line in pino's format. Formats each millisecond once. */
export function lineTime(): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/**
 * Writes a line for each request, the same that pino would write at the level `info`. pino looks at every field of every
 * line. See docs/design/http.md. The options base, name, level, its formatter, timestamp and bindings of pino count here.
 * Redact, mixin and serializers do not.
 */
export class RequestLog {
  readonly #level: string;
  readonly #bindings: string;
  readonly #time: () => string;
  readonly #stream: { write(line: string): void };

  constructor(log: Logger) {
    const parts = log as unknown as Parts;
    const level = parts[pino.symbols.lsCacheSym][INFO];
    if (level === undefined) throw new Error('This version of pino does not keep the beginning of a line.');
    this.#level = level;
    this.#bindings = parts[pino.symbols.chindingsSym];
    this.#time = parts[pino.symbols.timeSym];
    this.#stream = parts[pino.symbols.streamSym];
  }

  write({ id, key, method, route, status, code, durationUs, waitedUs }: RequestEntry): void {
    let line = `${this.#level}${this.#time()}${this.#bindings},"id":"${id}"`;
    if (key !== undefined) line += `,"keyId":${key.id},"account":${JSON.stringify(key.account.name)}`;
    line += `,"method":"${method}","route":"${route}","status":${status}`;
    if (code !== undefined) line += `,"code":"${code}"`;
    line += `,"durationMs":${durationUs / 1_000}`;
    // Most bodies arrive in less.
    if (waitedUs >= 1_000) line += `,"waitedMs":${waitedUs / 1_000}`;
    this.#stream.write(`${line},"msg":"request"}\n`);
  }
}
