/* CBOR (RFC 8949), as authenticators write it: small, of definite length, without tags, large numbers and floats. */

export type Cbor = number | string | boolean | null | Buffer | readonly Cbor[] | CborMap;
export type CborMap = ReadonlyMap<number | string, Cbor>;

/** Levels of arrays and maps. An attestation with certificates has three. */
const MOST_LEVELS = 4;

/** Values of one document, with those inside arrays and maps. */
const MOST_VALUES = 100;

const TEXT = new TextDecoder('utf-8', { fatal: true });

/** What a client sent is not what it should be. */
export class Malformed extends Error {}

/** Reads values one after another. Each length is checked before anything of this length is read. */
export class CborReader {
  readonly #bytes: Buffer;
  #at: number;
  #values = 0;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Index of the next byte. */
  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** @throws Malformed */
  map(): CborMap {
    const value = this.#value(MOST_LEVELS);
    if (!isMap(value)) throw new Malformed('no map');
    return value;
  }

  #value(levels: number): Cbor {
    if (levels === 0) throw new Malformed('too deep');
    if (++this.#values > MOST_VALUES) throw new Malformed('too many values');
    const [head = 0] = this.#take(1);
    const kind = head >> 5;
    if (kind === 7) return this.#simple(head);
    const argument = this.#argument(head & 0x1f);
    switch (kind) {
      case 0:
        return argument;
      case 1:
        return -1 - argument;
      case 2:
        return this.#take(argument);
      case 3:
        return TEXT.decode(this.#take(argument));
      case 4:
        return Array.from({ length: this.#fitting(argument) }, () => this.#value(levels - 1));
      case 5:
        return this.#map(this.#fitting(argument), levels - 1);
      default:
        throw new Malformed('a tag');
    }
  }

  #map(size: number, levels: number): CborMap {
    const map = new Map<number | string, Cbor>();
    for (let count = 0; count < size; count++) {
      const key = this.#value(levels);
      if ((typeof key !== 'number' && typeof key !== 'string') || map.has(key)) throw new Malformed('a key');
      map.set(key, this.#value(levels));
    }
    return map;
  }

  #simple(head: number): boolean | null {
    if (head === 0xf4) return false;
    if (head === 0xf5) return true;
    if (head === 0xf6) return null;
    throw new Malformed('a float, a break or another simple value');
  }

  /** A length, a count, or the number itself. */
  #argument(short: number): number {
    if (short < 24) return short;
    // 24, 25 and 26: 1, 2 and 4 bytes follow.
    if (short > 26) throw new Malformed('a large number, or a length that is not known');
    const bytes = this.#take(2 ** (short - 24));
    return bytes.readUIntBE(0, bytes.length);
  }

  /** @throws Malformed when so many values are too many. */
  #fitting(count: number): number {
    if (count > MOST_VALUES - this.#values) throw new Malformed('too many values');
    return count;
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Malformed('too short');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

export function isMap(value: Cbor | undefined): value is CborMap {
  return value instanceof Map;
}
