interface Reading<T> {
  readonly running: Promise<T>;
  /** The read that begins when the running one ends, for all who asked in between. */
  next?: Promise<T>;
}

/**
 * Lets all who wait for the same thing share one read, and yet sees to it that each sees a read that began after it
 * asked: what was written before a request is in its answer.
 */
export class SharedReads<T> {
  readonly #readings = new Map<string, Reading<T>>();

  read(name: string, read: () => Promise<T>): Promise<T> {
    const reading = this.#readings.get(name);
    if (reading === undefined) return this.#begin(name, read);
    const begin = () => this.#begin(name, read);
    return (reading.next ??= reading.running.then(begin, begin));
  }

  #begin(name: string, read: () => Promise<T>): Promise<T> {
    const reading: Reading<T> = { running: read() };
    this.#readings.set(name, reading);
    const end = () => {
      if (reading.next === undefined) this.#readings.delete(name);
    };
    reading.running.then(end, end);
    return reading.running;
  }
}
