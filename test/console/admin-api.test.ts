// Contract: section 10.2.
import { startTestService } from '../support/service.ts';
import { operatorsContract } from './operators-contract.ts';
import { requestsContract } from './requests-contract.ts';

requestsContract('SQLite', startTestService);
operatorsContract('SQLite', startTestService);
