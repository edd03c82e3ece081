import { MemoryCounter } from '../../src/limits/memory/counter.ts';
import { openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { banContract } from './ban-contract.ts';
import { quotaCounterContract } from './quota-counter-contract.ts';

for (const contract of [quotaCounterContract, banContract]) {
  contract('memory', async (t, policy) => {
    const clock = fakeClock();
    const store = openStore(`sqlite:${temporaryFolder(t)}/petstore.db`, clock);
    t.after(() => store.close());
    return { clock, counter: new MemoryCounter(clock, policy, store.limits) };
  });
}
