import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { StartupError } from '../../domain/startup-error.ts';
import { type Line, LINE_MAX } from './lines.ts';
import { systemReason } from './source.ts';

const LINE_FEED = Buffer.from('\n');

/** The file of `--refused`: the refused rows as they came, below the header line, to be corrected and imported. */
export class RefusedFile {
  readonly #file: string;
  readonly #header: readonly Line[];
  readonly #handle: number;
  #rows = 0;
  #lost = 0;

  /** @throws StartupError when the file exists or cannot be made. `add` throws it when the file cannot be written. */
  constructor(file: string, header: readonly Line[]) {
    this.#file = file;
    this.#header = header;
    this.#handle = this.#do(() => openSync(file, 'wx'));
  }

  add(row: readonly Line[]): void {
    const isLost = row.some((line) => line.bytes === undefined);
    this.#write([...(this.#rows === 0 ? this.#header : []), ...(isLost ? [] : row)]);
    if (isLost) this.#lost++;
    this.#rows++;
  }

  /** Removes the file if it holds no row. Returns what the file lacks, as a sentence. */
  close(): string | undefined {
    closeSync(this.#handle);
    if (this.#rows === 0) rmSync(this.#file);
    if (this.#lost === 0) return undefined;
    const reason = `because their lines are longer than ${LINE_MAX} bytes`;
    return `${this.#file} lacks ${this.#lost} of the refused rows, ${reason}.`;
  }

  #write(lines: readonly Line[]): void {
    const bytes = Buffer.concat(lines.flatMap((line) => [line.bytes ?? Buffer.of(), LINE_FEED]));
    this.#do(() => writeFileSync(this.#handle, bytes));
  }

  #do<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new StartupError(`Cannot write ${this.#file}: ${systemReason(error)}.`, { cause: error });
    }
  }
}
