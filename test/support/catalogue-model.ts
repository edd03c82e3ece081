import { isLinearizable, type Timed } from './linearizability.ts';

/** What the checker knows of an animal. Every create of a history gives its animal a name of its own. */
export interface Animal {
  readonly id: number;
  readonly name: string;
  readonly status?: string | undefined;
}

export type Operation =
  /** Without an `id` nobody knows whether the animal was added: no answer came. */
  | { readonly kind: 'create'; readonly animal: Omit<Animal, 'id'>; readonly id?: number }
  | {
      readonly kind: 'list';
      readonly limit: number;
      readonly status?: string | undefined;
      readonly answer: readonly Animal[];
    }
  | { readonly kind: 'get'; readonly id: number; readonly answer?: Animal | undefined };

export type Recorded = Operation & Timed;

/** Newest first. */
type Catalogue = readonly Animal[];

/** Whether some order of the operations on one catalogue explains every answer. */
export function isCatalogueHistory(history: readonly Recorded[], before: Catalogue = []): boolean {
  const newestFirst = before.toSorted((a, b) => b.id - a.id);
  return isLinearizable(withIds(history), newestFirst, { after });
}

/** The catalogue after an operation that finds it like this, or undefined when it cannot have got its answer from it. */
function after(catalogue: Catalogue, operation: Recorded): Catalogue | undefined {
  switch (operation.kind) {
    case 'create': {
      const { id = 0, animal } = operation;
      if (catalogue.some((other) => other.id === id)) return undefined;
      const older = catalogue.findIndex((other) => other.id < id);
      return catalogue.toSpliced(older === -1 ? catalogue.length : older, 0, { ...animal, id });
    }
    case 'list': {
      const { limit, status, answer } = operation;
      const all = status === undefined ? catalogue : catalogue.filter((animal) => animal.status === status);
      const page = all.slice(0, limit);
      const equal =
        page.length === answer.length && page.every((animal, index) => isSame(animal, answer[index]));
      return equal ? catalogue : undefined;
    }
    case 'get': {
      const { id, answer } = operation;
      return isSame(
        catalogue.find((animal) => animal.id === id),
        answer,
      )
        ? catalogue
        : undefined;
    }
  }
}

/** Creates without an answer get the id under which somebody saw their animal; what nobody saw need not have happened. */
function withIds(history: readonly Recorded[]): readonly Recorded[] {
  const seen = new Map<string, number>();
  for (const operation of history) {
    if (operation.kind === 'list') for (const { name, id } of operation.answer) seen.set(name, id);
    if (operation.kind === 'get' && operation.answer !== undefined)
      seen.set(operation.answer.name, operation.answer.id);
  }
  return history.flatMap((operation) => {
    if (operation.kind !== 'create' || operation.id !== undefined) return [operation];
    const id = seen.get(operation.animal.name);
    return id === undefined ? [] : [{ ...operation, id, ended: Number.POSITIVE_INFINITY }];
  });
}

function isSame(a: Animal | undefined, b: Animal | undefined): boolean {
  return a?.id === b?.id && a?.name === b?.name && a?.status === b?.status;
}
