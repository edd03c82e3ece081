// Contract: section 3.
import { crc32 } from 'node:zlib';

/** An id and its CRC-32, written or read: each call does so in one go. */
const bytes = Buffer.alloc(12);
const idBytes = bytes.subarray(0, 8);

/** The opaque paging cursor that continues after the animal `id`: the id and its CRC-32, in base64url. */
export function encodeCursor(id: bigint): string {
  bytes.writeBigInt64BE(id, 0);
  bytes.writeUInt32BE(crc32(idBytes), idBytes.length);
  return bytes.toString('base64url');
}

/** The id that a cursor was made of, or undefined for any text that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): bigint | undefined {
  // 12 bytes fill 16 characters to the last bit, so that there is one spelling of each. Node.js takes others for the same.
  if (cursor.length !== 16 || /[^\w-]/.test(cursor)) return undefined;
  bytes.write(cursor, 'base64url');
  const id = bytes.readBigInt64BE(0);
  return id > 0n && bytes.readUInt32BE(idBytes.length) === crc32(idBytes) ? id : undefined;
}
