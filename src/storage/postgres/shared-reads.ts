interface Reading<T> {
  readonly running: Promise<T>;
  /** The read that begins when the running one ends, for all callers that came in between. */
  next?: Promise<T>;
}

/**
 * Lets callers of the same read share it. Each gets a read that began after its call, so a request sees all earlier
 * writes. When a read fails, those that wait for it fail with it: in an outage each would wait twice.
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
