/* Runs plans in a thread of its own, whose time, timers and randomness the simulator replaces. */
import { parentPort, workerData } from 'node:worker_threads';
import { plantFault } from './plant.ts';
import type { Order, Report } from './runner.ts';

const { folder, plantedFault } = workerData as { readonly folder: string; readonly plantedFault?: string };
// Before the code is loaded that it changes.
if (plantedFault !== undefined) plantFault(plantedFault);
const { simulate } = await import('./simulate.ts');
const { makeTemplate } = await import('./template.ts');
const template = await makeTemplate(folder);
const port = parentPort as NonNullable<typeof parentPort>;

port.on('message', (plan: Order) => {
  void simulate(plan, template, folder).then((report: Report) => port.postMessage(report));
});
port.postMessage('ready');
