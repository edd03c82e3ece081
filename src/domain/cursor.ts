// Contract: section 3.
import { crc32 } from 'node:zlib';

/** What a list that is not in the order of ids is sorted by, of its last item: the values that its cursors hold. */
export type SortKey = { readonly [name: string]: string | number | bigint | undefined };

/** An id and its CRC-32. Shared by all calls, because each one finishes with it before it returns. */
const bytes = Buffer.alloc(12);
const idBytes = bytes.subarray(0, 8);

/** Bytes of a CRC-32. */
const CHECKSUM = 4;

/**
 * The cursor of the page after an item: its key and a CRC-32, in base64url. The key is the item's id, or a text of more than
 * 8 bytes for a list that is not in the order of ids. Clients must not read it. Anybody can make one, so what it
 * holds is checked as parameters are.
 */
export function encodeCursor(key: bigint | string): string {
  if (typeof key === 'string') return encodeText(key);
  bytes.writeBigInt64BE(key, 0);
  bytes.writeUInt32BE(crc32(idBytes), idBytes.length);
  return bytes.toString('base64url');
}

function encodeText(key: string): string {
  const checksum = Buffer.alloc(CHECKSUM);
  checksum.writeUInt32BE(crc32(key));
  return Buffer.concat([Buffer.from(key), checksum]).toString('base64url');
}

/** The id in a cursor, or undefined for a text that `encodeCursor` did not make of an id. */
export function decodeCursor(cursor: string): bigint | undefined {
  // 12 bytes fill 16 characters exactly, so each cursor has one spelling. Node.js would accept other characters too.
  if (cursor.length !== 16 || /[^\w-]/.test(cursor)) return undefined;
  bytes.write(cursor, 'base64url');
  const id = bytes.readBigInt64BE(0);
  return id > 0n && bytes.readUInt32BE(idBytes.length) === crc32(idBytes) ? id : undefined;
}

/** The text in a cursor, or undefined for a cursor that `encodeCursor` did not make. */
export function decodeTextCursor(cursor: string): string | undefined {
  const all = Buffer.from(cursor, 'base64url');
  // Node.js accepts other characters and other spellings too.
  if (all.length <= CHECKSUM || all.toString('base64url') !== cursor) return undefined;
  const key = all.subarray(0, -CHECKSUM);
  return all.readUInt32BE(key.length) === crc32(key) ? key.toString() : undefined;
}
