import { accountContract } from '../http/account-contract.ts';
import { changePetContract } from '../http/change-pet-contract.ts';
import { createPetContract } from '../http/create-pet-contract.ts';
import { holderContract } from '../http/holder-contract.ts';
import { idempotencyContract } from '../http/idempotency-contract.ts';
import { keysContract } from '../http/keys-contract.ts';
import { listPetsContract } from '../http/list-pets-contract.ts';
import { ordersContract } from '../http/orders-contract.ts';
import { ordersIsolationContract } from '../http/orders-isolation-contract.ts';
import { startSharedService } from '../support/instances.ts';

for (const contract of [
  listPetsContract,
  createPetContract,
  changePetContract,
  idempotencyContract,
  ordersContract,
  ordersIsolationContract,
  keysContract,
  accountContract,
  holderContract,
]) {
  contract('PostgreSQL and Redis', startSharedService);
}
