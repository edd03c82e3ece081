/** What is tried, in the order of the report. */
export interface Group {
  readonly name: string;
  readonly pattern: string;
  /** Each survivor is killed by a test, shown to be equal, or its line is removed. */
  readonly settled: boolean;
}

export const GROUPS: readonly Group[] = [
  { name: '`src/domain/`', pattern: 'src/domain/*.ts', settled: true },
  { name: '`src/limits/`', pattern: 'src/limits/*.ts', settled: true },
  { name: '`src/limits/redis/`', pattern: 'src/limits/redis/*.ts', settled: false },
  { name: '`rules.ts` of the features', pattern: 'src/resources/*/rules.ts', settled: true },
  { name: '`src/http/`', pattern: 'src/http/**/*.ts', settled: false },
  {
    name: 'Repositories',
    pattern: 'src/resources/*/{repository,sqlite,postgres,table,reads,key-view}.ts',
    settled: false,
  },
];
