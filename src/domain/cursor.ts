import { crc32 } from 'node:zlib';

const BYTES = 12;

/** The opaque paging cursor that continues after the animal `id`: the id and its CRC-32, in base64url (decisions §4). */
export function encodeCursor(id: bigint): string {
  const bytes = Buffer.allocUnsafe(BYTES);
  bytes.writeBigInt64BE(id, 0);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  return bytes.toString('base64url');
}

/** The id that a cursor was made of, or undefined for any text that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): bigint | undefined {
  // 12 bytes fill 16 characters to the last bit, so that there is one spelling of each.
  if (!/^[\w-]{16}$/.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  const id = bytes.readBigInt64BE(0);
  return id > 0n && bytes.readUInt32BE(8) === crc32(bytes.subarray(0, 8)) ? id : undefined;
}
