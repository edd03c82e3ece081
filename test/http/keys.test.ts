// Contract: sections 3.13, 3.14 and 4.
import { startTestService } from '../support/service.ts';
import { accountContract } from './account-contract.ts';
import { keysContract } from './keys-contract.ts';

keysContract('SQLite', startTestService);
accountContract('SQLite', startTestService);
