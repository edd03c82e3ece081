import { MemoryLimiter } from '../../src/limits/memory.ts';
import { openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { banContract } from './ban-contract.ts';
import { quotaContract } from './quota-contract.ts';

for (const contract of [quotaContract, banContract]) {
  contract('memory', async (t, policy) => {
    const clock = fakeClock();
    const store = openStore(`sqlite:${temporaryFolder(t)}/petstore.db`, clock);
    t.after(() => store.close());
    return { clock, limiter: new MemoryLimiter(clock, policy, store.limits) };
  });
}
