/** Slots of a cluster, as the Redis Cluster specification has them. */
export const SLOTS = 16_384;

/** Remainders of CRC-16/XMODEM, by byte. */
const REMAINDERS = Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) {
    remainder = ((remainder << 1) ^ (remainder & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return remainder;
});

/** The slot of a key: that of what stands between its first braces, if anything does. */
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
