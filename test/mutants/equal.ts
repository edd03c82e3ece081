/** A mutant that no test can notice, and why. */
export interface EqualMutant {
  readonly file: string;
  /** What changes, and into what. All mutants of the file that say so are meant, or those of the line that begins so. */
  readonly original: string;
  readonly replacement: string;
  readonly line?: string;
  readonly because: string;
}

export const EQUAL: readonly EqualMutant[] = [];
