// Contract: sections 2 and 3.
import { z } from 'zod';
import { count, date, int64, list, listExamples, oneOf, text } from '../../domain/fields.ts';
import { parseObject } from '../../domain/parse.ts';
import { foldedName } from '../../domain/text.ts';
import { type DetailName, PET_STATUSES, SEXES, SIZES } from './rules.ts';

/** The three states of an animal. `rules.ts` has their transitions. */
export const PetStatus = oneOf(PET_STATUSES).meta({
  id: 'PetStatus',
  description: 'Availability status of an animal.',
  examples: ['available'],
});

const name = text(200, { description: "The animal's name.", examples: ['Rex'] });

const categoryId = int64.meta({
  description: 'Identifier of the category the animal belongs to.',
  examples: [7],
});

const word = <const Word extends string>(words: readonly Word[], description: string, example: Word) =>
  oneOf(words).meta({ description: `Beta. ${description}`, examples: [example] });

const words = (most: number, description: string, example: string) =>
  text(most, { description: `Beta. ${description}`, examples: [example] });

/** Characters of an address, as the URL Standard writes it. */
const ADDRESS_LENGTH = 1_024;

/** An address as the URL Standard writes it. */
const photoUrl = z
  .string({ error: 'must be an address as a string' })
  .transform((value, context) => {
    const url = URL.parse(value);
    const issue = findAddressIssue(url);
    if (issue === undefined && url !== null) return url.href;
    context.addIssue({ code: 'custom', message: issue });
    return z.NEVER;
  })
  .meta({ format: 'uri', maxLength: ADDRESS_LENGTH, pattern: '^[Hh][Tt][Tt][Pp][Ss]:' });

function findAddressIssue(url: URL | null): string | undefined {
  if (url?.protocol !== 'https:') return 'must be an address that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  return url.href.length > ADDRESS_LENGTH ? `must have at most ${ADDRESS_LENGTH} characters` : undefined;
}

const hasTwins = (tags: readonly string[]) => new Set(tags.map(foldedName)).size < tags.length;

/** What an animal may have besides, in the order of `DETAIL_NAMES`. */
const DETAILS = {
  description: words(2_000, 'What the animal is like.', 'Calm, and fond of children.'),
  breed: words(100, 'Its breed.', 'Beagle'),
  sex: word(SEXES, 'Its sex.', 'male'),
  size: word(SIZES, 'How large it is, or will be.', 'medium'),
  color: words(100, 'Its color.', 'Tricolor'),
  birthDate: date.meta({
    description: 'Beta. The day of its birth, often an estimate: not after tomorrow in UTC.',
    examples: ['2024-05-01'],
  }),
  photoUrls: list(photoUrl, { least: 1, most: 10, error: 'must be a list of 1 to 10 addresses' }).meta({
    description:
      `Beta. The https addresses of photos, of at most ${ADDRESS_LENGTH} characters as the URL Standard writes them. The service never ` +
      'fetches them.',
    examples: [['https://photos.example/rex.jpg']],
  }),
  tags: list(text(50, { description: 'A tag.', examples: ['house-trained'] }), {
    least: 1,
    most: 20,
    error: 'must be a list of 1 to 20 texts',
  })
    .refine((tags) => !hasTwins(tags), { error: 'must not have a tag twice, whatever its case' })
    .meta({
      description: 'Beta. Short texts to find it by. No two differ in case only.',
      examples: [['house-trained', 'good with cats']],
    }),
} as const satisfies Record<DetailName, z.ZodType>;

const OPTIONAL = {
  ...DETAILS,
  reference: words(
    100,
    "The owner's own number of the animal: no two animals of an account have the same.",
    'A745123',
  ),
};

type Shape = Readonly<Record<string, z.ZodType>>;

/** The same fields with another schema. */
const mapShape = (shape: Shape, change: (schema: z.ZodType) => z.ZodType): Shape =>
  Object.fromEntries(Object.entries(shape).map(([field, schema]) => [field, change(schema)]));

type Possible<S extends Shape> = { [Name in keyof S]: z.ZodOptional<S[Name]> };

const PRESENT = mapShape(OPTIONAL, (schema) => schema.optional()) as Possible<typeof OPTIONAL>;

type Added<S extends Shape> = {
  [Name in keyof S]: z.ZodExactOptional<z.ZodType<z.output<S[Name]> | undefined>>;
};

/** An empty text or list counts as absent. */
const ADDED = mapShape(OPTIONAL, (schema) =>
  z.exactOptional(z.preprocess((value) => (isEmpty(value) ? undefined : value), schema.optional())),
) as Added<typeof OPTIONAL>;

const isEmpty = (value: unknown) => value === '' || (Array.isArray(value) && value.length === 0);

type Removable<S extends Shape> = { [Name in keyof S]: z.ZodExactOptional<z.ZodNullable<S[Name]>> };

const REMOVABLE = mapShape(OPTIONAL, (schema) => z.exactOptional(schema.nullable())) as Removable<
  typeof OPTIONAL
>;

const NEW_PET = { name: 'Rex', categoryId: 7, status: 'available' } as const;
export const EXAMPLE_PET = { id: 42, ...NEW_PET };

/** What can be added again and again. A reference can be added once. */
const WHOLE_PET = {
  ...NEW_PET,
  ...Object.fromEntries(Object.entries(DETAILS).map(([field, schema]) => [field, listExamples(schema)[0]])),
};

/** The body of `createPet`. Other fields are ignored. */
export const NewPet = z.object({ name, categoryId, status: PetStatus.exactOptional(), ...ADDED }).meta({
  id: 'NewPet',
  description: 'An animal to add. An empty text or list counts as absent.',
  examples: [NEW_PET, { name: 'Minka', categoryId: 3 }, WHOLE_PET],
});

/** The body of `updatePet`. Other fields are ignored. */
export const PetPatch = z
  .object({
    name: name.exactOptional(),
    categoryId: categoryId.exactOptional(),
    status: PetStatus.nullable().exactOptional(),
    ...REMOVABLE,
  })
  .meta({
    id: 'PetPatch',
    description: 'A change of an animal. `null` removes a field that is not required.',
    examples: [{ status: 'sold' }, { name: 'Rexi', status: null }],
  });

/** An animal as it is returned. */
export const Pet = z
  .object({
    name,
    categoryId,
    status: PetStatus.exactOptional(),
    ...PRESENT,
    id: int64.meta({
      description: 'Unique identifier assigned by the service on creation.',
      examples: [42],
    }),
  })
  .meta({
    id: 'Pet',
    description: 'An animal of the catalogue.',
    examples: [EXAMPLE_PET, { ...EXAMPLE_PET, id: 41, name: 'Luna' }],
  });

const animals = (what: string, example: number) => count(`Animals ${what}.`, 0, example);

export const Inventory = z
  .object({
    available: animals('that can be ordered', 12),
    pending: animals('that an order holds, or that are set so', 1),
    sold: animals('that are sold', 80),
    unknown: animals('without a status', 3),
  })
  .meta({
    id: 'Inventory',
    description: 'How many animals there are of each status, as of a moment within the last minute.',
    examples: [{ available: 12, pending: 1, sold: 80, unknown: 3 }],
  });

export type NewPet = Readonly<z.infer<typeof NewPet>>;
export type PetPatch = z.infer<typeof PetPatch>;
export type Pet = Readonly<z.infer<typeof Pet>>;

/**
 * The animal that a parsed JSON body describes.
 * @throws ServiceError `invalid_request`, naming every wrong field.
 */
export function parseNewPet(body: unknown): NewPet {
  return parseObject(NewPet, body);
}
