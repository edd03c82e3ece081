import { connect } from 'node:net';
import type { Operation } from '../../src/http/operation.ts';
import type { Api } from './both-apis.ts';
import type { DrawnRequests } from './drawn-requests.ts';
import type { Attempt } from './ends.ts';
import { requestText } from './load.ts';
import { ResponseReader } from './responses.ts';

/*
 * What a seed sends on a connection of its own: whole requests, and often one that is cut, repeated, overwritten or framed in an
 * odd way, with more behind it.
 */

/** Header lines that say something odd about a request. */
const LINES = [
  'Content-Length: 0',
  'Content-Length: 1',
  'Content-Length: -1',
  'Content-Length: +2',
  'Content-Length: 0x2',
  'Content-Length: 2, 2',
  'Content-Length: 18446744073709551616',
  'Content-Length:',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\u000bchunked',
  'Transfer-Encoding: identity',
  'TE: trailers',
  'Trailer: Host',
  ' folded: yes',
  '\tfolded: yes',
  'Host: other.example',
  'Host: a b',
  'Host:',
  'Authorization: Bearer other',
  'Connection: close',
  'Connection: keep-alive, close, x',
  'Connection: upgrade\r\nUpgrade: h2c',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x',
  'Expect: 100-continue',
  'Expect: more',
  'Range: bytes=0-0',
  'X: \u0000',
  'X: \u007f',
  'X: \u0080\u00ff',
  'X: a\rb',
  '(x): y',
  ': no name',
  'no colon',
  `${'x'.repeat(9_000)}: y`,
  `X: ${'y'.repeat(17_000)}`,
  'x: y\r\n'.repeat(150).slice(0, -2),
];

const VERSIONS = ['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/1.1 ', 'http/1.1', 'ICY/1.1', ''];

const METHODS = ['get', 'OPTIONS', 'TRACE', 'CONNECT', 'PUT', 'PRI', 'QUERY', 'G\u0000T', 'M-SEARCH', ''];

const BYTES = [0, 9, 10, 13, 32, 34, 37, 44, 47, 58, 63, 64, 92, 127, 128, 0xc3, 0xed, 0xff];

/** Sizes of a chunk of two bytes, as they should be and as they are not. */
const CHUNK_SIZES = [
  '2',
  '0002',
  '2;a=b',
  '2;a="\u0000"',
  '2 ',
  '-2',
  '0x2',
  '3',
  '1',
  'ffffffffffffffff1',
  '',
  'g',
];

export interface Conversation {
  readonly api: Api;
  /** Those that are whole, and come first. */
  readonly whole: readonly { readonly attempt: Attempt; readonly operation: Operation }[];
  /** What is broken and comes then, in latin1. */
  readonly broken: string | undefined;
  readonly bytes: Buffer;
}

export function drawConversation(drawn: DrawnRequests, api: Api): Conversation {
  const { draw } = drawn;
  const toText = (attempt: Attempt) =>
    Buffer.from(
      requestText(
        { host: new URL(api.base).host, key: api.secret },
        { ...attempt, path: api.prefix + attempt.path },
      ),
    ).toString('latin1');
  const next = () => {
    for (;;) {
      const { attempt, operation } = drawn.next(api.operations);
      // Whoever waits for an answer does not close the connection.
      if (attempt.path.includes('wait=')) continue;
      return { attempt: { ...attempt, method: operation.method }, operation };
    }
  };
  const whole = Array.from({ length: draw.pick([0, 0, 0, 1, 1, 2, 4]) }, next);
  const broken =
    draw.chance(0.9) || whole.length === 0 ? breakText(drawn, toText(next().attempt)) : undefined;
  const behind = broken !== undefined && draw.chance(0.4) ? toText(next().attempt) : '';
  const text = whole.map(({ attempt }) => toText(attempt)).join('') + (broken ?? '') + behind;
  return { api, whole, broken, bytes: Buffer.from(text, 'latin1') };
}

function breakText({ draw }: DrawnRequests, text: string): string {
  const at = draw.below(text.length);
  const end = Math.min(text.length, at + 1 + draw.below(draw.pick([2, 40, 400])));
  const lineEnd = text.indexOf('\r\n');
  const headEnd = text.indexOf('\r\n\r\n');
  const [method = '', target = ''] = text.slice(0, lineEnd).split(' ');
  switch (draw.below(10)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, end) + text.slice(at);
    case 2:
      return text.slice(0, at) + text.slice(end);
    case 3:
      return `${text.slice(0, at)}${String.fromCodePoint(draw.pick(BYTES))}${text.slice(at + draw.below(2))}`;
    case 4:
    case 5: {
      const lines = Array.from({ length: draw.pick([1, 1, 2, 3]) }, () => `\r\n${draw.pick(LINES)}`).join('');
      const place = draw.chance(0.5) ? lineEnd : headEnd;
      return text.slice(0, place) + lines + text.slice(place);
    }
    case 6: {
      const head = text.slice(0, headEnd).replace(/\r\ncontent-length: \d+/i, '');
      const chunks = Array.from({ length: draw.below(4) }, () => `${draw.pick(CHUNK_SIZES)}\r\n{}\r\n`).join(
        '',
      );
      const last = draw.pick([
        '0\r\n\r\n',
        '0\r\nTrailer: x\r\n\r\n',
        '0\n\n',
        '0',
        '',
        '0\r\n\u0000: x\r\n\r\n',
      ]);
      return `${head}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${last}`;
    }
    case 7:
      return text.replaceAll('\r\n', draw.pick(['\n', '\r', '\r\n\r', '\r\r\n', '\r\n ']));
    case 8: {
      const other = draw.pick([
        `http://shop.example${target}`,
        `//${target}`,
        '*',
        'shop.example:443',
        `${target}#x`,
        `${target} x`,
        '',
        '\\',
        `${target}\u00ff`,
      ]);
      return `${draw.chance(0.5) ? method : draw.pick(METHODS)} ${other}${text.slice(text.indexOf(' ', method.length + 1))}`;
    }
    default:
      return text.replace('HTTP/1.1', draw.pick(VERSIONS));
  }
}

/**
 * Sends everything, ends its side of the connection when what is whole has its answers, and takes what comes until the other side
 * ends: whoever has ended its side may get no answer.
 */
export function converse({ api, whole, bytes }: Conversation): Promise<ResponseReader> {
  const { hostname, port } = new URL(api.base);
  const reader = new ResponseReader(whole.map(({ attempt }) => attempt.method));
  return new Promise((resolve, reject) => {
    const endIfAnswered = () => {
      if (reader.responses.length >= whole.length) socket.end();
    };
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(bytes);
      endIfAnswered();
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
        endIfAnswered();
      } catch (error) {
        reject(error);
        socket.destroy();
      }
    });
    // The service may close before it has read everything.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(reader));
  });
}
