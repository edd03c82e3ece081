interface Reading<T> {
  readonly running: Promise<T>;
  /** The read that begins when the running one ends, for all who asked in between. */
  next?: Promise<T>;
}

/**
 * Lets all who wait for the same thing share one read, and yet sees to it that each sees a read that began after it
 * asked: what was written before a request is in its answer. When the read before fails, theirs is not tried: in an
 * outage each would wait twice.
 */
export class SharedReads<T> {
  readonly #readings = new Map<string, Reading<T>>();

  read(name: string, read: () => Promise<T>): Promise<T> {
    const reading = this.#readings.get(name);
    if (reading === undefined) return this.#begin(name, read);
    return (reading.next ??= reading.running.then(() => this.#begin(name, read)));
  }

  #begin(name: string, read: () => Promise<T>): Promise<T> {
    const reading: Reading<T> = { running: read() };
    this.#readings.set(name, reading);
    const forget = () => void this.#readings.delete(name);
    const end = () => {
      if (reading.next === undefined) forget();
    };
    reading.running.then(end, forget);
    return reading.running;
  }
}
