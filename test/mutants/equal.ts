/** A mutant that no test can notice, and why. */
export interface EqualMutant {
  readonly file: string;
  /** What changes, and into what. All mutants of the file that say so are meant, or those of the lines that contain `line`. */
  readonly original: string;
  readonly replacement: string;
  readonly line?: string;
  readonly because: string;
}

const SHORTCUT = 'the shortcut for usual numbers; the way of all others gives the same value';
const ALWAYS_MATCHES = 'the group always matches; the default is for the compiler';

export const EQUAL: readonly EqualMutant[] = [
  ...[
    ['/^-?[1-9]\\d{0,14}$/.test(source)', 'false'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-[1-9]\\d{0,14}$/'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-?[^1-9]\\d{0,14}$/'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-?[1-9]\\d$/'],
    ['/^-?[1-9]\\d{0,14}$/', '/^-?[1-9]\\D{0,14}$/'],
  ].map(([original = '', replacement = '']) => ({
    file: 'src/domain/int64.ts',
    original,
    replacement,
    because: SHORTCUT,
  })),
  {
    file: 'src/domain/int64.ts',
    line: 'const [, sign',
    original: "''",
    replacement: '"Stryker was here!"',
    because: ALWAYS_MATCHES,
  },
  {
    file: 'src/domain/int64.ts',
    original: "'0'",
    replacement: '""',
    line: 'const [, sign',
    because: 'both are the number 0',
  },
  {
    file: 'src/domain/int64.ts',
    original: 'text.length > 20',
    replacement: 'false',
    because: 'a longer number is outside of the range; the length spares the work of converting it',
  },
  {
    file: 'src/limits/ban.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    because: 'the first refusal removes what is no recent instant',
  },
  {
    file: 'src/limits/ban.ts',
    original: 'over !== 0',
    replacement: 'true',
    because: 'it then removes nothing',
  },
  {
    file: 'src/limits/ban.ts',
    original: 'refusal !== undefined',
    replacement: 'true',
    because: 'a comparison with NaN is false too',
  },
  {
    file: 'src/limits/quota.ts',
    original: '!minuteOver && !dayOver',
    replacement: 'false',
    because: 'the counts are equal; it only spares an object',
  },
];
