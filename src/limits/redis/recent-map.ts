/** Entries. Without a limit, a flood of addresses would fill the memory. */
const ENTRIES_MAX = 100_000;

/** A Map that forgets the least recently updated entry when it is full. */
export class RecentMap<K, V> extends Map<K, V> {
  override set(key: K, value: V): this {
    // Deleted first, so that the key moves to the end of the map.
    this.delete(key);
    if (this.size >= ENTRIES_MAX) this.delete(this.keys().next().value as K);
    return super.set(key, value);
  }
}
