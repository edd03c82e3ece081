// Contract: section 3.
import { crc32 } from 'node:zlib';

/** A place in a list that is not in the order of ids: the values that its cursors hold. */
export type Place = { readonly [name: string]: string | number | bigint | undefined };

/** An id and its CRC-32. Shared by all calls, because each one finishes with it before it returns. */
const bytes = Buffer.alloc(12);
const idBytes = bytes.subarray(0, 8);

/** Bytes of a CRC-32. */
const CHECKSUM = 4;

/**
 * The cursor of the page after a place: the place and its CRC-32, in base64url. The place is the id of an item, or a text of
 * more than 8 bytes for a list that is not in the order of ids. Clients must not read it. Anybody can make one, so what it
 * holds is checked as parameters are.
 */
export function encodeCursor(place: bigint | string): string {
  if (typeof place === 'string') return encodeText(place);
  bytes.writeBigInt64BE(place, 0);
  bytes.writeUInt32BE(crc32(idBytes), idBytes.length);
  return bytes.toString('base64url');
}

function encodeText(place: string): string {
  const checksum = Buffer.alloc(CHECKSUM);
  checksum.writeUInt32BE(crc32(place));
  return Buffer.concat([Buffer.from(place), checksum]).toString('base64url');
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
  const place = all.subarray(0, -CHECKSUM);
  return all.readUInt32BE(place.length) === crc32(place) ? place.toString() : undefined;
}
