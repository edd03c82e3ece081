import { compare } from './compare.ts';
import { type BenchContext, openContext } from './context.ts';
import type { Options } from './options.ts';
import { type Row, rowOf } from './rows.ts';
import type { Scenario } from './scenarios.ts';
import type { PreparedService } from './service.ts';

/** Measures scenarios one after the other on the same stores. */
export interface Session extends AsyncDisposable {
  readonly context: BenchContext;
  readonly prepared: PreparedService;
  measure(scenario: Scenario): Promise<Row>;
}

export async function openSession(options: Options, signal: AbortSignal): Promise<Session> {
  const { animals, rounds, seconds, warmUp, scale } = options;
  const isSmoke = options.mode === 'smoke';
  await using opening = new AsyncDisposableStack();
  const context = opening.use(await openContext(signal, scale));
  const prepared = await context.prepare(animals);
  const comparison = { place: context.place, signal, rounds, seconds, warmUp, paced: !scale && !isSmoke };
  const resources = opening.move();
  return {
    context,
    prepared,
    async measure(scenario) {
      console.error(`Measuring ${scenario.name} …`);
      const goals = scale ? (scenario.scaleGoals ?? {}) : scenario.goals;
      const withPeer = !isSmoke && goals.times !== undefined;
      return rowOf(await compare(scenario, prepared, withPeer, comparison), goals);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
