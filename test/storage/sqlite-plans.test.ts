// Contract: section 3.
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { PageKind } from '../../src/resources/pets/pages.ts';
import { selectPage, selectRound } from '../../src/resources/pets/sqlite.ts';
import { FIND_UNFOLDED } from '../../src/resources/pets/table.ts';
import { selectFirstInCategory } from '../../src/resources/pets/repository.ts';
import { DIALECT } from '../../src/storage/sqlite/dialect.ts';
import { explainSqlite } from '../support/plans.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

const BY_ID = 'SEARCH pets USING INTEGER PRIMARY KEY (rowid<?)';
const BY_STATUS = 'SEARCH pets USING INDEX pets_by_status (status=? AND rowid<?)';
const BY_CATEGORY = 'SEARCH pets USING INDEX pets_by_category (category_id=? AND <expr>=? AND rowid<?)';

const BY_OWNER = 'SEARCH pets USING INDEX pets_by_owner (owner_id=? AND <expr>=? AND rowid<?)';

/** The reads of each page, in their order. */
const EXPECTED: Readonly<Record<PageKind, readonly string[]>> = {
  all: [BY_ID],
  ofStatus: [BY_STATUS],
  ofCategoryAndStatus: [BY_CATEGORY],
  // One for each status, merged as they are read.
  ofCategory: [BY_CATEGORY, BY_CATEGORY, BY_CATEGORY, BY_CATEGORY],
  ofOwnerAndStatus: [BY_OWNER],
  ofOwner: [BY_OWNER, BY_OWNER, BY_OWNER, BY_OWNER],
  ofName: ['SEARCH pets USING INDEX pets_by_name (folded_name=? AND rowid<?)'],
  ofReference: [
    'SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH pets USING INDEX pets_by_reference (reference=?)',
    // Of one animal of each owner at most.
    'USE TEMP B-TREE FOR ORDER BY',
  ],
  ofIds: ['SCAN json_each VIRTUAL TABLE INDEX 1:', 'SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)'],
};

const KINDS = Object.keys(EXPECTED) as PageKind[];

/** The steps of the plan that read or sort. */
function listReads(db: DatabaseSync, sql: string): readonly string[] {
  const steps = explainSqlite(db, sql.replaceAll('$', '?'));
  return steps.filter((step) => /SCAN|SEARCH|TEMP/.test(step) && !step.startsWith('SCAN (subquery'));
}

/** Wrong statistics mislead the planner: of an empty table, of one status only, of one category only. */
const STATISTICS: Readonly<Record<string, string>> = {
  none: '',
  'of almost no animals': `('pets', 'pets_by_status', '3 1'), ('pets', 'pets_by_category', '3 1 1'),
    ('pets', 'pets_by_owner', '3 1 1')`,
  'of one category, owner and status': `('pets', 'pets_by_status', '9000000 9000000'),
    ('pets', 'pets_by_category', '9000000 9000000 9000000'), ('pets', 'pets_by_owner', '9000000 9000000 9000000')`,
  'of as many categories and owners as animals': `('pets', 'pets_by_status', '9000000 3000000'),
    ('pets', 'pets_by_category', '9000000 1 1'), ('pets', 'pets_by_owner', '9000000 1 1')`,
};

for (const [what, rows] of Object.entries(STATISTICS)) {
  test(`an index answers every page, with statistics ${what}`, async (t) => {
    const { raw } = await sqliteFixture(t);
    if (rows !== '') raw().exec(`ANALYZE; DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 VALUES ${rows}`);
    // A connection reads the statistics when it opens.
    const db = raw();
    for (const kind of KINDS) {
      for (const limit of [2, 21, 101]) {
        // A list of ids is sorted: it has at most 100 animals. No other page sorts.
        const sorts = kind === 'ofIds' ? ['USE TEMP B-TREE FOR ORDER BY'] : [];
        assert.deepEqual(
          listReads(db, selectPage(kind, limit)),
          [...EXPECTED[kind], ...sorts],
          `${kind} ${limit}`,
        );
      }
    }
    for (const kind of ['ofOwner', 'ofOwnerAndStatus', 'ofName'] as const)
      assert.deepEqual(listReads(db, selectRound(kind)), EXPECTED[kind], `a round ${kind}`);
    assert.deepEqual(listReads(db, FIND_UNFOLDED.sqlite), ['SCAN pets USING INDEX pets_unfolded']);
    assert.deepEqual(listReads(db, selectFirstInCategory(7n, DIALECT).sql), [
      'SEARCH pets USING COVERING INDEX pets_by_category (category_id=?)',
    ]);
  });
}
