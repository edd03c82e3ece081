import { UnreachableError } from './fitness.ts';

/** Hash slots of a cluster, by the Redis Cluster specification. */
export const SLOTS = 16_384;

/** The most servers of a cluster, by the same specification. */
const MOST_SERVERS = 1_000;

/** Consecutive hash slots, and the name of the server that has them. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly server: string;
}

/** A server has hash slots that another one had. Without a name it was none. */
export interface Takeover {
  readonly from: string;
  readonly to: string;
}

/** A reply to CLUSTER SLOTS: each range with its primary first. A host that is missing or empty is that of the server asked. */
export type SlotsReply = readonly (readonly [
  from: number,
  to: number,
  primary: readonly [host: string | null, port: number, ...unknown[]],
  ...replicas: unknown[],
])[];

/** The remainder of each byte, for CRC-16/XMODEM. */
const REMAINDERS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
  return crc;
});

/** The hash slot of a key: CRC-16/XMODEM of the text between its braces. Every key of ours has braces, and is in ASCII. */
export function slotOf(key: string): number {
  const end = key.indexOf('}');
  let crc = 0;
  for (let at = key.indexOf('{') + 1; at < end; at++)
    crc = ((crc << 8) & 0xffff) ^ (REMAINDERS[(crc >> 8) ^ key.charCodeAt(at)] ?? 0);
  return crc % SLOTS;
}

const NONSENSE = 'The Redis Cluster has hash slots that make no sense.';

/** The name of a server, by its address. */
export function toServerName(host: string, port: number): string {
  return `${host}:${port}`;
}

/**
 * The slots of a cluster, in their order. `host` is that of the server that was asked.
 * @throws UnreachableError when no server has a slot, or when the reply makes no sense.
 */
export function toSlotRanges(reply: SlotsReply, host: string): readonly SlotRange[] {
  if (reply.length > SLOTS) throw new UnreachableError(NONSENSE);
  const ranges = reply.map(([from, to, [name, port]]) => {
    if (!isWithin(from, 0, SLOTS - 1) || !isWithin(to, from, SLOTS - 1) || !isWithin(port, 1, 65_535))
      throw new UnreachableError(NONSENSE);
    return { from, to, server: toServerName(name || host, port) };
  });
  if (new Set(ranges.map(({ server }) => server)).size > MOST_SERVERS) throw new UnreachableError(NONSENSE);
  if (ranges.length === 0) throw new UnreachableError('No server of the Redis Cluster has hash slots.');
  return ranges.toSorted((one, other) => one.from - other.from);
}

function isWithin(number: number, least: number, most: number): boolean {
  return Number.isInteger(number) && number >= least && number <= most;
}

/** The server of each hash slot; an empty text where there is none. */
export function toOwners(ranges: readonly SlotRange[]): string[] {
  const owners = Array.from({ length: SLOTS }, () => '');
  for (const { from, to, server } of ranges) owners.fill(server, from, to + 1);
  return owners;
}

/**
 * What most servers say; of equals the first. One that is cut off from the others goes on telling what it knew.
 */
export function findMajority(tables: readonly (readonly SlotRange[])[]): readonly SlotRange[] | undefined {
  const groups = [...Map.groupBy(tables, (table) => JSON.stringify(table)).values()];
  const most = Math.max(...groups.map(({ length }) => length));
  return groups.find(({ length }) => length === most)?.[0];
}

/** Each pair of servers once. */
export function findTakeovers(former: readonly string[], owners: readonly string[]): readonly Takeover[] {
  // As after most reads. There are many slots, and a read twice a second.
  if (former === owners) return [];
  const froms = new Map<string, Set<string>>();
  for (const [slot, to] of owners.entries()) {
    const from = former[slot] ?? '';
    if (from !== to) froms.getOrInsertComputed(to, () => new Set()).add(from);
  }
  return [...froms].flatMap(([to, all]) => [...all].map((from) => ({ from, to })));
}
