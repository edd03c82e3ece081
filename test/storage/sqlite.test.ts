import { accountNameContract } from './account-name-contract.ts';
import { accountStoreContract } from './account-store-contract.ts';
import { archiveContract } from './archive-contract.ts';
import { limiterStoreContract } from './limiter-store-contract.ts';
import { idempotencyContract } from './idempotency-contract.ts';
import { auditContract } from './audit-contract.ts';
import { keyUseContract } from './key-use-contract.ts';
import { petChangeContract } from './pet-change-contract.ts';
import { petFilterContract } from './pet-filter-contract.ts';
import { petPageContract } from './pet-page-contract.ts';
import { petRaceContract } from './pet-race-contract.ts';
import { operatorContract } from './operator-contract.ts';
import { ownKeysContract } from './own-keys-contract.ts';
import { usageHistoryContract } from './usage-history-contract.ts';
import { usagePagesContract } from './usage-pages-contract.ts';
import { petStoreContract } from './pet-store-contract.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

for (const contract of [
  petStoreContract,
  petFilterContract,
  petChangeContract,
  petRaceContract,
  petPageContract,
  idempotencyContract,
  archiveContract,
  accountNameContract,
  accountStoreContract,
  auditContract,
  keyUseContract,
  ownKeysContract,
  operatorContract,
  usageHistoryContract,
  usagePagesContract,
  limiterStoreContract,
]) {
  contract('SQLite', (t) => sqliteFixture(t));
}
