import type { KeyFinder } from './accounts.ts';
import type { Engine } from './engine.ts';
import type { PetReads } from './pets.ts';

/** What each engine has in a version of its own, because it is hot. */
export interface HotParts {
  readonly pets: PetReads;
  readonly keys: KeyFinder;
}

export interface OpenEngine {
  readonly engine: Engine;
  readonly hot: HotParts;
}
