import { type Logger, pino } from 'pino';
import type { ErrorCode } from '../domain/errors.ts';
import { thousandths } from './decimal.ts';

/** What the log tells of an answered request. Nothing but the account's name can hold what needs escaping. */
export interface RequestEntry {
  readonly id: string;
  readonly key: { readonly id: number; readonly account: { readonly name: string } } | undefined;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly code: ErrorCode | undefined;
  /** Whole microseconds. */
  readonly durationUs: number;
}

/** What pino makes its lines of, as its types do not tell. */
interface Parts {
  readonly [pino.symbols.chindingsSym]: string;
  readonly [pino.symbols.lsCacheSym]: Readonly<Record<number, string>>;
  readonly [pino.symbols.streamSym]: { write(line: string): void };
  readonly [pino.symbols.timeSym]: () => string;
}

const INFO = 30;

/**
 * A line for each request, as pino would write it at the level `info`: pino looks at every field of every line anew, which
 * takes seven times as long as to put one together whose fields are known. Of pino's options, base, name, level, its
 * formatter, timestamp and bindings count here; others (redact, mixin, serializers) do not.
 */
export class RequestLog {
  readonly #level: string;
  readonly #bindings: string;
  readonly #time: () => string;
  readonly #stream: { write(line: string): void };

  constructor(log: Logger) {
    const parts = log as unknown as Parts;
    const level = parts[pino.symbols.lsCacheSym][INFO];
    if (level === undefined) throw new Error('pino does not tell how a line begins.');
    this.#level = level;
    this.#bindings = parts[pino.symbols.chindingsSym];
    this.#time = parts[pino.symbols.timeSym];
    this.#stream = parts[pino.symbols.streamSym];
  }

  write({ id, key, method, route, status, code, durationUs }: RequestEntry): void {
    let line = `${this.#level}${this.#time()}${this.#bindings},"id":"${id}"`;
    if (key !== undefined) line += `,"keyId":${key.id},"account":${JSON.stringify(key.account.name)}`;
    line += `,"method":"${method}","route":"${route}","status":${status}`;
    if (code !== undefined) line += `,"code":"${code}"`;
    this.#stream.write(`${line},"durationMs":${thousandths(durationUs)},"msg":"request"}\n`);
  }
}
