// Contract: sections 2 and 8.2.
import { DAY } from '../../domain/clock.ts';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

export type PetStatus = (typeof PET_STATUSES)[number];

export const SEXES = ['female', 'male'] as const;
export const SIZES = ['small', 'medium', 'large', 'extra_large'] as const;

/** What an animal may have besides the fields of the specification and its reference, in the order of answers. */
export const DETAIL_NAMES = [
  'description',
  'breed',
  'sex',
  'size',
  'color',
  'birthDate',
  'photoUrls',
  'tags',
] as const;

export type DetailName = (typeof DETAIL_NAMES)[number];

/** All fields of an animal but its id, in the order of answers. */
export const FIELD_NAMES = ['name', 'categoryId', 'status', ...DETAIL_NAMES, 'reference'] as const;

export type FieldName = (typeof FIELD_NAMES)[number];

/** What commands and pages call the fields that an animal may have. */
export const LABELS = {
  description: 'Description',
  breed: 'Breed',
  sex: 'Sex',
  size: 'Size',
  color: 'Color',
  birthDate: 'Birth date',
  photoUrls: 'Photos',
  tags: 'Tags',
  reference: 'Reference',
} as const satisfies Record<DetailName | 'reference', string>;

/** Why an animal cannot have been born on a day, or undefined if it can. `now` is in Unix milliseconds. */
export function findBirthDateIssue(birthDate: string | undefined, now: number): string | undefined {
  const isTooLate = birthDate !== undefined && Date.parse(birthDate) > now + DAY;
  return isTooLate ? 'birthDate must not be after tomorrow in UTC.' : undefined;
}

/** What can happen to an animal, besides its creation, which may give it any status or none. */
export type PetEvent =
  | 'order made'
  | 'order completed'
  | 'order cancelled'
  | 'order expired'
  | 'status patched'
  | 'deleted';

export interface Transition {
  readonly event: PetEvent;
  /** `any` includes an animal without a status. */
  readonly from: PetStatus | 'any';
  /** Whether the animal must have an open order, or must have none. */
  readonly hasOpenOrder: boolean;
  /** `any` is the status that the request gives. */
  readonly to: PetStatus | 'any' | 'gone';
}

/** Everything that may happen to an animal. The reference draws this table. */
export const TRANSITIONS: readonly Transition[] = [
  { event: 'order made', from: 'available', hasOpenOrder: false, to: 'pending' },
  { event: 'order completed', from: 'pending', hasOpenOrder: true, to: 'sold' },
  { event: 'order cancelled', from: 'pending', hasOpenOrder: true, to: 'available' },
  { event: 'order expired', from: 'pending', hasOpenOrder: true, to: 'available' },
  { event: 'status patched', from: 'any', hasOpenOrder: false, to: 'any' },
  { event: 'deleted', from: 'any', hasOpenOrder: false, to: 'gone' },
];

/** The transition of an animal in this state, or undefined when the state forbids the event. */
export function transition(
  event: PetEvent,
  status: PetStatus | undefined,
  hasOpenOrder: boolean,
): Transition | undefined {
  return TRANSITIONS.find(
    (each) =>
      each.event === event &&
      (each.from === 'any' || each.from === status) &&
      each.hasOpenOrder === hasOpenOrder,
  );
}

/** What an order says of an animal's status: one is open, or one was completed here. */
export type Claim = 'held' | 'adopted';

/**
 * What becomes of an animal that a file names. `held`, `adopted`: its status stays as an order made it, whatever the file says, and the
 * rest was changed. `unknown`: it would be new, and the file lacks what a new animal needs.
 */
export type Step = 'added' | 'changed' | 'unchanged' | Claim | 'unknown';

/** What becomes of animals that a file lacks. */
export const MISSING = ['keep', 'sold', 'delete'] as const;

export type Missing = (typeof MISSING)[number];

/** Whether a change may be about an animal of this owner: of the account, or without one of any. */
export function isOwnedBy({ ownerId }: { readonly ownerId: number }, accountId: number | undefined): boolean {
  return accountId === undefined || accountId === ownerId;
}

/** The status that an event of an order gives its animal. */
export function statusAfter(
  event: PetEvent,
  status: PetStatus | undefined,
  hasOpenOrder: boolean,
): PetStatus {
  const to = transition(event, status, hasOpenOrder)?.to;
  if (to === undefined || to === 'any' || to === 'gone')
    throw new Error(`An animal that is ${status ?? 'without a status'} has no transition for "${event}".`);
  return to;
}
