import type * as http from 'node:http';

/**
 * `node:http`, but not imported: an import asks for everything that it exports, and so loads undici for what nobody uses
 * here, which takes 40 ms of each start.
 */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
export type IncomingMessage = http.IncomingMessage;
