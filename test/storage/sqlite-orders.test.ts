import { orderContract } from './order-contract.ts';
import { orderExpiryContract } from './order-expiry-contract.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

for (const contract of [orderContract, orderExpiryContract]) {
  contract('SQLite', (t) => sqliteFixture(t));
}
