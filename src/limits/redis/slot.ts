/** Hash slots of a cluster, by the Redis Cluster specification. */
export const SLOTS = 16_384;

/** CRC-16/XMODEM of each byte. */
const REMAINDERS = Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) {
    remainder = ((remainder << 1) ^ (remainder & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return remainder;
});

/** The hash slot of a key. If there is text between its first braces, only that text counts. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open === -1 ? -1 : key.indexOf('}', open);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc = ((crc << 8) & 0xffff) ^ (REMAINDERS[(crc >> 8) ^ byte] ?? 0);
  }
  return crc % SLOTS;
}
