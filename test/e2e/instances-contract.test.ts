// A short run over PostgreSQL and Redis: what locks rows, or reads the limits that instances share. The contracts of
// test/storage run over both databases, and test/record plays every operation over both.
import { accountContract } from '../http/account-contract.ts';
import { holderContract } from '../http/holder-contract.ts';
import { keysContract } from '../http/keys-contract.ts';
import { startSharedService } from '../support/instances.ts';

for (const contract of [keysContract, accountContract, holderContract])
  contract('PostgreSQL and Redis', startSharedService);
