interface Batch<I, R> {
  readonly items: I[];
  readonly results: Promise<readonly R[]>;
}

/** Collects the items that one turn of the event loop adds to a group, and runs them together, in order, at most `size` at a time. */
export class Batches<I, R> {
  readonly #size: number;
  readonly #run: (items: readonly I[]) => Promise<readonly R[]>;
  readonly #open = new Map<string, Batch<I, R>>();

  /** `run` gives the results in the order of the items. When it rejects, every `add` of the batch rejects. */
  constructor(size: number, run: (items: readonly I[]) => Promise<readonly R[]>) {
    this.#size = size;
    this.#run = run;
  }

  async add(group: string, item: I): Promise<R> {
    let batch = this.#open.get(group);
    if (batch === undefined || batch.items.length >= this.#size) batch = this.#begin(group);
    const index = batch.items.push(item) - 1;
    const result = (await batch.results)[index];
    if (result === undefined) throw new Error(`A batch of ${batch.items.length} gave too few results.`);
    return result;
  }

  #begin(group: string): Batch<I, R> {
    const items: I[] = [];
    const results = new Promise<readonly R[]>((resolve, reject) => {
      setImmediate(() => {
        if (this.#open.get(group) === batch) this.#open.delete(group);
        this.#run(items).then(resolve, reject);
      });
    });
    const batch = { items, results };
    this.#open.set(group, batch);
    return batch;
  }
}
