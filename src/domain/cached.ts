import type { Clock } from './clock.ts';

interface Keeping<T> {
  /** Milliseconds for which a value is served again. */
  readonly lifetime: (value: T) => number;
  /** Whether the next load takes so long that callers get this value meanwhile. */
  readonly isSlow: (value: T) => boolean;
}

/**
 * Keeps the result of `load`, so that ten open consoles cost the same as one. Callers share a load that runs. A failure is
 * not kept: the first call after it loads again.
 */
export function cached<T>(
  clock: Clock,
  load: () => Promise<T>,
  { lifetime, isSlow }: Keeping<T>,
): () => Promise<T> {
  let known: { readonly value: T; readonly until: number } | undefined;
  let loading: Promise<T> | undefined;
  const reload = async (): Promise<T> => {
    try {
      const value = await load();
      known = { value, until: clock().monotonic + lifetime(value) };
      return value;
    } catch (error) {
      known = undefined;
      throw error;
    } finally {
      loading = undefined;
    }
  };
  return async () => {
    if (known !== undefined && clock().monotonic < known.until) return known.value;
    const old = known;
    loading ??= reload();
    if (old === undefined || !isSlow(old.value)) return loading;
    // Its failure is for the next caller, who finds no value and loads again.
    loading.catch(() => undefined);
    return old.value;
  };
}
