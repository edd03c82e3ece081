import { Worker } from 'node:worker_threads';
import type { Plan } from './world.ts';

export type Order = Plan;

/** What came of a run. */
export interface Report {
  /** What was wrong, with the name of the checker in front. */
  readonly faults: readonly string[];
  /** The same for each run of the same plan. */
  readonly trace: string;
  /** Tasks of the scheduler. */
  readonly tasks: number;
  /** The types of the events, the statuses of the answers, and the troubles of the run. */
  readonly reached: readonly string[];
}

/** Milliseconds of real time without a report after which a run hangs: a run takes less than a second. */
const HANGS_AFTER = 60_000;

const HANG = 'progress: the run does not end, because an instance does not let others run';

/** Runs plans, one after the other, in a thread. */
export class Runner {
  readonly #data: { readonly folder: string; readonly plantedFault?: string | undefined };
  #worker: Worker | undefined;

  /** `folder`: of the databases, best in memory. */
  constructor(folder: string, plantedFault?: string) {
    this.#data = { folder, plantedFault };
  }

  async run(plan: Plan): Promise<Report> {
    const worker = (this.#worker ??= await this.#start());
    const { promise, resolve, reject } = Promise.withResolvers<Report>();
    const watch = setTimeout(
      () => resolve({ faults: [HANG], trace: '', tasks: 0, reached: [] }),
      HANGS_AFTER,
    );
    worker.once('message', resolve).once('error', reject);
    worker.postMessage(plan satisfies Order);
    const report = await promise.finally(() => clearTimeout(watch));
    worker.off('error', reject);
    if (report.faults[0] === HANG) await this.close();
    return report;
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: this.#data });
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    return worker;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }
}

/** Runs of one plan that shrinking tries at most. */
const MOST_TRIALS = 24;

const toName = (fault: string) => fault.slice(0, fault.indexOf(':'));

/** A smaller plan that the same checker refuses: with fewer steps, and fewer troubles. */
export async function shrink(
  runner: Runner,
  plan: Plan,
  faults: readonly string[],
): Promise<{ plan: Plan; faults: readonly string[] }> {
  const names = new Set(faults.map(toName));
  let smallest = { plan, faults };
  let trials = 0;
  const isStillRefused = async (smaller: Plan): Promise<boolean> => {
    if (++trials > MOST_TRIALS) return false;
    const found = (await runner.run(smaller)).faults;
    if (!found.some((fault) => names.has(toName(fault)))) return false;
    smallest = { plan: smaller, faults: found };
    return true;
  };
  for (const trouble of plan.troubles) {
    const { plan: last } = smallest;
    await isStillRefused({ ...last, troubles: last.troubles.filter((each) => each !== trouble) });
  }
  for (let part = 2; part <= 8; ) {
    const { plan: last } = smallest;
    const steps = Math.floor(last.steps - last.steps / part);
    if (steps < 1 || !(await isStillRefused({ ...last, steps }))) part *= 2;
  }
  return smallest;
}

/** What to type to see a run again. */
export function writePlan({ seed, steps, troubles }: Plan): string {
  return `SEED=${seed} STEPS=${steps} TROUBLES=${troubles.join()} node --test test/simulator/simulator.test.ts`;
}
