// Contract: section 7.
import { prettyFactory } from 'pino-pretty';
import { printable } from '../terminal/printable.ts';

/** What the log has of a request to the API or the console. */
interface RequestLine {
  readonly id?: string;
  readonly account?: string;
  readonly keyId?: number;
  readonly operator?: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly code?: string;
  readonly durationMs?: number;
  readonly waitedMs?: number;
}

/** The local time, because a person compares it with a watch. */
const TIME = 'SYS:HH:MM:ss.l';

/** Turns a JSON line of the log into a line for people, with its line feed. An error adds the lines of its stack. */
export function prettyLines(colorize: boolean): (line: string) => string {
  const prettify = prettyFactory({
    colorize,
    singleLine: true,
    translateTime: TIME,
    customPrettifiers: { time: String },
    customColors: 'message:reset',
    useOnlyCustomProps: false,
    ignore: 'request',
    messageFormat: ({ request, msg }, _key, _level, { colors }) => {
      if (request === undefined) return String(msg);
      const { status, text, id } = describeRequest(request as RequestLine);
      const color = status.startsWith('5')
        ? colors.red
        : status.startsWith('4')
          ? colors.yellow
          : colors.green;
      return `${color(status)} ${text}  ${colors.gray(id)}`;
    },
  });
  return (line) => {
    const entry = JSON.parse(line, escapeText) as Record<string, unknown>;
    const { level, time, msg, ...request } = entry;
    const isRequest = msg === 'request' || msg === 'console request';
    return prettify(isRequest ? { level, time, request } : entry);
  };
}

/** A name from the database could send commands to the terminal. A stack has lines. */
function escapeText(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return name === 'stack' ? value.split('\n').map(printable).join('\n') : printable(value);
}

function describeRequest({ id = '', account, keyId, operator, method, route, ...rest }: RequestLine) {
  const { status, code, durationMs, waitedMs } = rest;
  const parts = [
    `${method} ${route}`,
    code,
    durationMs === undefined ? undefined : `${Number(durationMs.toPrecision(3))} ms`,
    waitedMs === undefined ? undefined : `waited ${Number(waitedMs.toPrecision(3))} ms`,
    operator ?? (account === undefined ? undefined : `${account}, key ${keyId}`),
  ];
  return { status: String(status), text: parts.filter((part) => part !== undefined).join('  '), id };
}
