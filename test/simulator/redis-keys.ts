import { ErrorReply } from '@redis/client';

/** What a key of each type holds. */
interface Contents {
  readonly string: string;
  readonly hash: Map<string, string>;
  readonly list: string[];
  /** The score of each member. */
  readonly zset: Map<string, number>;
}

type KeyType = keyof Contents;

/** Types whose keys go with their last entry. */
type Collection = Exclude<KeyType, 'string'>;

interface Entry {
  readonly type: KeyType;
  readonly contents: Contents[KeyType];
  /** Later keys have higher numbers. SCAN goes by them. */
  readonly number: number;
  /** Unix milliseconds. */
  readonly expiry: number | undefined;
}

/** A key with all that it holds. Fields of a hash, and members of a sorted set, are sorted. */
type KeyDump = readonly [key: string, type: KeyType, expiry: number, held: readonly string[]];

const EMPTY: { readonly [T in Collection]: () => Contents[T] } = {
  hash: () => new Map(),
  list: () => [],
  zset: () => new Map(),
};

/** The keys of one server. `now` gives whole Unix milliseconds. */
export class RedisKeys {
  readonly #now: () => number;
  #entries = new Map<string, Entry>();
  #created = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** Empty if there is no such key. @throws ErrorReply when the key has another type. */
  read<T extends Collection>(key: string, type: T): Contents[T] {
    const entry = this.#find(key);
    if (entry === undefined) return EMPTY[type]();
    if (entry.type !== type)
      throw new ErrorReply('WRONGTYPE Operation against a key holding the wrong kind of value');
    return entry.contents as Contents[T];
  }

  /** Changes the contents of a key, which begins empty, and deletes the key when nothing is left. */
  change<T extends Collection, R>(key: string, type: T, change: (contents: Contents[T]) => R): R {
    const contents = this.read(key, type);
    const result = change(contents);
    const size = Array.isArray(contents) ? contents.length : contents.size;
    if (size === 0) this.#entries.delete(key);
    else if (!this.#entries.has(key)) this.#create(key, type, contents);
    return result;
  }

  /** Replaces the value of a key with a text. */
  set(key: string, text: string): void {
    this.#create(key, 'string', text);
  }

  delete(key: string): boolean {
    return this.has(key) && this.#entries.delete(key);
  }

  clear(): void {
    this.#entries = new Map();
  }

  /** An instant that has come deletes the key at once. */
  expireAt(key: string, expiry: number): boolean {
    const entry = this.#find(key);
    if (entry === undefined) return false;
    if (expiry <= this.#now()) this.#entries.delete(key);
    else this.#entries.set(key, { ...entry, expiry });
    return true;
  }

  /** As PEXPIRETIME says it: -1 without an expiry, -2 without the key. */
  expiryOf(key: string): number {
    const entry = this.#find(key);
    return entry === undefined ? -2 : (entry.expiry ?? -1);
  }

  /** Some keys after a cursor, and the next cursor: 0 after the last. A key that stays is found once. */
  scan(cursor: number, count: number): readonly [next: number, keys: readonly string[]] {
    const rest = [...this.#entries]
      .filter(([, { number }]) => number > cursor)
      .toSorted(([, one], [, other]) => one.number - other.number);
    const page = rest.slice(0, count);
    const next = rest.length > count ? (page.at(-1)?.[1].number ?? 0) : 0;
    return [next, page.map(([key]) => key).filter((key) => this.has(key))];
  }

  deleteAll(isDeleted: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (isDeleted(key)) this.#entries.delete(key);
  }

  /** Replaces its keys with those of another server, with their expiry. */
  copy(from: RedisKeys, isCopied: (key: string) => boolean): void {
    this.deleteAll(isCopied);
    for (const [key, { type, contents, expiry }] of from.#entries) {
      if (!isCopied(key)) continue;
      this.#create(key, type, structuredClone(contents));
      if (expiry !== undefined) this.expireAt(key, expiry);
    }
  }

  /** Every key, sorted. */
  dump(): readonly KeyDump[] {
    const keys = [...this.#entries.keys()].filter((key) => this.has(key)).toSorted();
    return keys.map((key) => {
      const { type, contents } = this.#entries.get(key) as Entry;
      return [key, type, this.expiryOf(key), toTexts(contents)];
    });
  }

  #create(key: string, type: KeyType, contents: Contents[KeyType]): void {
    this.#created++;
    this.#entries.set(key, { type, contents, number: this.#created, expiry: undefined });
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.expiry === undefined || entry.expiry >= this.#now()) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}

function toTexts(contents: Contents[KeyType]): readonly string[] {
  if (typeof contents === 'string') return [contents];
  if (Array.isArray(contents)) return contents;
  return [...contents].map(([name, value]) => `${name}=${value}`).toSorted();
}
