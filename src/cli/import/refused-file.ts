import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { StartupError } from '../../startup-error.ts';
import { type Line, LINE_MAX } from './lines.ts';
import { reasonOf } from './source.ts';

const LINE_FEED = Buffer.from('\n');

/** The file of `--refused`: the refused rows as they came, below the header line, to be corrected and imported. */
export class RefusedFile {
  readonly #file: string;
  readonly #handle: number;
  #rows = 0;
  #lost = 0;

  /** @throws StartupError when the file exists or cannot be written. */
  constructor(file: string, header: readonly Line[]) {
    this.#file = file;
    this.#handle = this.#do(() => openSync(file, 'wx'));
    this.#write(header);
  }

  add(row: readonly Line[]): void {
    if (row.some((line) => line.bytes === undefined)) this.#lost++;
    else this.#write(row);
    this.#rows++;
  }

  /** Removes the file if no row was refused. Returns what the file lacks, as a sentence. */
  close(): string | undefined {
    closeSync(this.#handle);
    if (this.#rows === 0) rmSync(this.#file);
    if (this.#lost === 0) return undefined;
    return `${this.#file} lacks ${this.#lost} of the refused rows, because their lines are longer than ${LINE_MAX} bytes.`;
  }

  #write(lines: readonly Line[]): void {
    const bytes = Buffer.concat(lines.flatMap((line) => [line.bytes ?? Buffer.of(), LINE_FEED]));
    this.#do(() => writeFileSync(this.#handle, bytes));
  }

  #do<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new StartupError(`Cannot write ${this.#file}: ${reasonOf(error)}.`, { cause: error });
    }
  }
}
