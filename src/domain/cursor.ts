// Contract: section 3.
import { crc32 } from 'node:zlib';

/** An id and its CRC-32. Shared by all calls, because each one finishes with it before it returns. */
const bytes = Buffer.alloc(12);
const idBytes = bytes.subarray(0, 8);

/** The cursor of the page after the animal `id`: the id and its CRC-32, in base64url. Clients must not read it. */
export function encodeCursor(id: bigint): string {
  bytes.writeBigInt64BE(id, 0);
  bytes.writeUInt32BE(crc32(idBytes), idBytes.length);
  return bytes.toString('base64url');
}

/** The id in a cursor, or undefined for a text that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): bigint | undefined {
  // 12 bytes fill 16 characters exactly, so each cursor has one spelling. Node.js would accept other characters too.
  if (cursor.length !== 16 || /[^\w-]/.test(cursor)) return undefined;
  bytes.write(cursor, 'base64url');
  const id = bytes.readBigInt64BE(0);
  return id > 0n && bytes.readUInt32BE(idBytes.length) === crc32(idBytes) ? id : undefined;
}
