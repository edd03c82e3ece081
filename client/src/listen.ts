import { type EventQuery, MOST_WAITS_AN_HOUR } from './events.ts';
import { reason } from './exchange.ts';
import { jsonText } from './json.ts';
import { type PetStoreOptions, readOptions } from './options.ts';
import { PetStore } from './petstore.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Event } from './schema.ts';
import { newWebhookSecret, signWebhook } from './sign-webhook.ts';

/** Milliseconds that the local program has, as an endpoint of a webhook has. */
const ANSWER_TIME = 10_000;

/**
 * Sends each event from now on to a local program, as a webhook would, and gives a line for it. The first line has the secret,
 * and says how long the limit of the day lasts. It ends by an error only.
 */
export async function* listen(
  options: PetStoreOptions,
  { forwardTo, types }: { readonly forwardTo: URL; readonly types?: EventQuery['types'] },
): AsyncGenerator<string, void, undefined> {
  const { baseUrl } = readOptions(options);
  const client = new PetStore(options);
  const secret = newWebhookSecret();
  // Read first, so that nothing is missed once the secret is printed.
  const { next } = await client.events.list({ after: 'now' });
  const limit = describeLimit(client.rateLimit);
  yield `Events of ${baseUrl} go to ${forwardTo.href}, signed with ${secret} (${limit})`;
  for await (const page of client.events.follow({ after: next, types, spread: false }))
    for (const event of page.events) {
      const outcome = await forward(event, forwardTo, secret);
      const line = `${event.timestamp}  ${event.type}  ${event.id}  ${outcome}`;
      // Nothing that came over the network may send commands to the terminal.
      yield line.replace(/\p{Cc}/gu, '?');
    }
}

/** How many requests it takes, and how long those that are left of the day last. */
function describeLimit(rateLimit: RateLimit | undefined): string {
  const pace = `${MOST_WAITS_AN_HOUR} requests an hour while nothing happens`;
  if (rateLimit === undefined) return pace;
  const { limit, remaining } = rateLimit.day;
  const minutes = Math.floor((remaining * 60) / MOST_WAITS_AN_HOUR);
  const time = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const lasts = minutes < 24 * 60 ? `last ${time}` : 'are enough for a day';
  return `${pace}: the ${remaining} left of this day's ${limit} ${lasts}`;
}

/** Posts an event once. Returns the status of the answer, or why there is none. */
async function forward(event: Event, url: URL, secret: string): Promise<string> {
  const body = jsonText(event);
  const signed = await signWebhook({ id: event.id, body }, secret, Date.now());
  try {
    const { status, body: answer } = await fetch(url, {
      method: 'POST',
      headers: { ...signed, 'content-type': 'application/json', 'user-agent': 'Petstore-Webhooks' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIME),
    });
    await answer?.cancel();
    return String(status);
  } catch (error) {
    return `failed: ${reason(error)}`;
  }
}
