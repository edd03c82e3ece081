import type { Answer, EndpointRequest, Transport } from '../../src/resources/webhooks/transport.ts';
import type { Random } from '../support/random.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

/** A message that an endpoint got. */
export interface Received {
  readonly webhookId: number;
  readonly eventId: string;
  /** Of the event, in the body. */
  readonly body: string;
  /** The newest first. */
  readonly secrets: readonly string[];
  readonly at: number;
  readonly process: SimulatedProcess;
  status: number | undefined;
}

/** Milliseconds that an answer takes at most while nothing is wrong. */
export const PROMPT = 200;

/** All endpoints, and the name server that knows them. */
export class Endpoints {
  readonly received: Received[] = [];
  /** The part of messages that get no 2xx, or no answer. */
  failing = 0;
  /** Milliseconds that an answer takes at most. */
  slowness = PROMPT;
  readonly #scheduler: Scheduler;
  readonly #random: Random;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  /** What one process speaks to endpoints with. */
  transport(process: SimulatedProcess): Transport {
    const waiting = new Set<{ readonly webhookId: number; readonly withdraw: () => void }>();
    const scheduler = this.#scheduler;
    const random = this.#random;
    return {
      lookUp: async () => {
        await scheduler.wait(random.between(0.1, 50));
        return { address: { address: '192.0.2.1', family: 4 } };
      },
      post: (request) =>
        new Promise((resolve) => {
          const cancel = scheduler.after(random.between(0, 5), () => {
            waiting.delete(message);
            void this.#receive(request, process).then(resolve);
          });
          const message = {
            webhookId: request.webhookId,
            withdraw: () => {
              cancel();
              waiting.delete(message);
              resolve(undefined);
            },
          };
          waiting.add(message);
        }),
      withdraw: async (webhookId) => {
        // As through the messages of a thread.
        await scheduler.wait(random.between(0, 2));
        for (const message of waiting) if (message.webhookId === webhookId) message.withdraw();
      },
      close: async () => {
        for (const message of waiting) message.withdraw();
      },
    };
  }

  async #receive(
    { webhookId, id, body, secrets, time }: EndpointRequest,
    process: SimulatedProcess,
  ): Promise<Answer> {
    const received: Received = {
      webhookId,
      eventId: id,
      body,
      secrets,
      at: this.#scheduler.now,
      process,
      status: undefined,
    };
    this.received.push(received);
    const isFailing = this.#random.chance(this.failing);
    const isSilent = isFailing && this.#random.chance(0.6);
    if (isSilent) {
      await this.#scheduler.wait(time);
      return { failure: 'timeout' };
    }
    received.status = isFailing ? 500 : 204;
    await this.#scheduler.wait(this.#random.between(1, Math.min(this.slowness, time)));
    return { status: received.status };
  }
}
