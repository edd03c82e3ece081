import { useEffect, useState } from 'preact/hooks';

/**
 * A value of the whole page. Components that use it render again when it changes.
 * @template T
 * @param {T} value
 */
export function observed(value) {
  /** @type {Set<() => void>} */
  const followers = new Set();
  return {
    get: () => value,
    /** @param {T} next */
    set(next) {
      value = next;
      for (const follow of followers) follow();
    },
    /** @param {() => void} follow */
    follow(follow) {
      followers.add(follow);
      return () => void followers.delete(follow);
    },
    use() {
      const [, draw] = useState({});
      useEffect(() => this.follow(() => draw({})), []);
      return value;
    },
  };
}
