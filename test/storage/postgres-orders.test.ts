import { categoryContract } from './category-contract.ts';
import { orderContract } from './order-contract.ts';
import { orderExpiryContract } from './order-expiry-contract.ts';
import { orderIdempotencyContract } from './order-idempotency-contract.ts';
import { orderListContract } from './order-list-contract.ts';
import { postgresFixture } from './postgres-fixture.ts';

for (const contract of [
  categoryContract,
  orderContract,
  orderExpiryContract,
  orderIdempotencyContract,
  orderListContract,
]) {
  contract('PostgreSQL', (t) => postgresFixture(t));
}
