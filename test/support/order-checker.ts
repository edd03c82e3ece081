import { isLinearizable, type Timed } from './linearizability.ts';
import {
  eventsOf,
  isInFilter,
  type Known,
  knownOf,
  ordersIn,
  petsIn,
  type Recorded,
} from './order-events.ts';
import { NOTHING, type Order, ORDER_MODEL } from './order-model.ts';

/**
 * Everything in a history that breaks section 2 of the contract, as messages. It judges each animal alone, with its orders.
 * Only lists concern several animals, and what a list shows of each counts as a read of its own.
 */
export function faultsOf(history: readonly Recorded[]): readonly string[] {
  const known = knownOf(history);
  const animals = Map.groupBy(
    history.flatMap((each) => eventsOf(each, known)),
    ({ animal }) => animal,
  );
  const unexplained = [...animals].flatMap(([id, events]) => {
    if (isLinearizable(events, NOTHING, ORDER_MODEL)) return [];
    const lines = events.toSorted((a, b) => a.began - b.began).map((event) => JSON.stringify(event));
    return [`no order of these explains animal ${id}:\n${lines.join('\n')}`];
  });
  return [
    ...idFaults(history, known),
    ...orderFaults(history, known),
    ...listFaults(history, known),
    ...unexplained,
  ];
}

interface New extends Timed {
  readonly id: number;
  /** Unique. */
  readonly name: string;
}

/** Ids that came twice or did not ascend. */
function idFaults(history: readonly Recorded[], known: Known): readonly string[] {
  const pets = history.flatMap((each): New[] => {
    if (each.kind !== 'create') return [];
    const id = each.answer?.id ?? known.petIds.get(each.pet.name);
    return id === undefined ? [] : [{ id, name: each.pet.name, began: each.began, ended: each.ended }];
  });
  const orders = history.flatMap((each): New[] => {
    if (each.kind !== 'order') return [];
    const id = known.orders.get(each.shipDate)?.id;
    return id === undefined ? [] : [{ id, name: each.shipDate, began: each.began, ended: each.ended }];
  });
  return [pets, orders].flatMap((all) =>
    all
      .filter(({ id, name, ended }) =>
        all.some((other) => (other.id === id ? other.name !== name : other.began > ended && other.id < id)),
      )
      .map(({ id }) => `id ${id} came twice, or is larger than a later one`),
  );
}

/** Orders that nobody made, and orders that contradict themselves or what was seen of them before. */
function orderFaults(history: readonly Recorded[], known: Known): readonly string[] {
  const first = new Map<number, Order>();
  const made = new Map(
    history.flatMap((each) => (each.kind === 'order' ? [[each.shipDate, each.petId]] : [])),
  );
  const animals = new Set(known.petIds.values());
  return history.flatMap(ordersIn).flatMap((order) => {
    const { id, petId, shipDate, createdAt, status, complete } = order;
    // Orders of other histories are not judged.
    if (!made.has(shipDate) && !animals.has(petId)) return [];
    const before = first.get(id) ?? order;
    first.set(id, before);
    const isMade = made.get(shipDate) === petId;
    const isKept = before.shipDate === shipDate && before.petId === petId && before.createdAt === createdAt;
    const isPlausible = complete === (status === 'complete');
    return isMade && isKept && isPlausible ? [] : [`nobody made an order like ${JSON.stringify(order)}`];
  });
}

/** Lists that are too long or in disorder, and what they show that does not match or that nobody added. */
function listFaults(history: readonly Recorded[], known: Known): readonly string[] {
  const animals = new Set(known.petIds.values());
  const categories = new Set(
    history.flatMap((each) => {
      if (each.kind === 'create') return [each.pet.categoryId];
      return each.kind === 'patch' ? [each.changes.categoryId] : [];
    }),
  );
  return history.flatMap((each) => {
    if (each.kind !== 'list' && each.kind !== 'list orders') return [];
    const { filter, limit, before = Number.POSITIVE_INFINITY, answer } = each;
    const ids = answer.map(({ id }) => id);
    const isPage = ids.length <= limit && ids.every((id, at) => id < (ids[at - 1] ?? before));
    const isRight = answer.every((item) => isInFilter(item, filter));
    // Animals in other categories are those of other histories.
    const isKnown = petsIn(each).every(
      ({ id, categoryId }) => animals.has(id) || !categories.has(categoryId),
    );
    return isPage && isRight && isKnown ? [] : [`no such list: ${JSON.stringify(each)}`];
  });
}
