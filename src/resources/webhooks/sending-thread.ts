import { parentPort, workerData } from 'node:worker_threads';
import { steadyClock } from '../../domain/clock.ts';
import { DirectTransport } from './direct-transport.ts';
import type { Transport, TransportSettings } from './transport.ts';

/*
 * The entry of the thread that speaks to endpoints, so that what they cost is not paid by the event loop. It answers calls of the
 * transport, and a call that is none shows that it still turns.
 */

export type Method = Exclude<keyof Transport, 'close'>;

/** A call of the transport, or 0: nothing but a sign of life is wanted. */
export type TransportCall =
  | { readonly [M in Method]: readonly [id: number, M, ...Parameters<Transport[M]>] }[Method]
  | 0;

/** The answer to a call, or 0. */
export type TransportAnswer = readonly [id: number, value: unknown] | 0;

if (parentPort !== null) run(parentPort, workerData as TransportSettings);

function run(port: NonNullable<typeof parentPort>, settings: TransportSettings): void {
  const clock = steadyClock(Date.now, () => performance.now());
  const transport = new DirectTransport({ ...settings, clock });
  const answer = async (call: TransportCall): Promise<TransportAnswer> => {
    if (call === 0) return 0;
    const [id, method, ...args] = call;
    const perform = transport[method] as (...values: unknown[]) => Promise<unknown>;
    return [id, await perform.apply(transport, args)];
  };
  port.on('message', (call: TransportCall) => void answer(call).then((value) => port.postMessage(value)));
}
