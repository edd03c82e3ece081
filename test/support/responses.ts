/** One response of a connection. */
export interface RawResponse {
  readonly status: number;
  readonly id: string;
  readonly head: string;
  readonly body: string;
}

/**
 * Takes the responses of one connection apart, as they arrive, without interim ones.
 * @throws Error when something is not a response.
 */
export class ResponseReader {
  readonly responses: RawResponse[] = [];
  readonly #methods: readonly string[];
  #text = '';

  /** `methods` are those of the requests, in their order: a response to HEAD has no body. */
  constructor(methods: readonly string[]) {
    this.#methods = methods;
  }

  /** What has arrived of a response that is not complete. */
  get rest(): string {
    return this.#text;
  }

  push(chunk: Buffer): void {
    this.#text += chunk.toString('latin1');
    for (let end = this.#text.indexOf('\r\n\r\n'); end !== -1; end = this.#text.indexOf('\r\n\r\n')) {
      const head = this.#text.slice(0, end);
      const status = Number(/^HTTP\/1\.1 (\d{3}) [^\r\n]*(?:\r\n|$)/.exec(head)?.[1] ?? Number.NaN);
      if (Number.isNaN(status)) throw new Error(`not a response: ${JSON.stringify(head.slice(0, 200))}`);
      if (status === 100) {
        this.#text = this.#text.slice(end + 4);
        continue;
      }
      const hasBody = this.#methods[this.responses.length] !== 'HEAD' && status !== 204 && status !== 304;
      const length = hasBody ? Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1] ?? 0) : 0;
      const next = end + 4 + length;
      if (this.#text.length < next) return;
      const id = /\r\nX-Request-Id: ([^\r\n]*)/i.exec(head)?.[1] ?? '';
      this.responses.push({ status, id, head, body: this.#text.slice(end + 4, next) });
      this.#text = this.#text.slice(next);
    }
  }
}
