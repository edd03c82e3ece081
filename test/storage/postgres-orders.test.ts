import { orderContract } from './order-contract.ts';
import { orderExpiryContract } from './order-expiry-contract.ts';
import { postgresFixture } from './postgres-fixture.ts';

for (const contract of [orderContract, orderExpiryContract]) {
  contract('PostgreSQL', (t) => postgresFixture(t));
}
