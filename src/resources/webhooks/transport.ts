// Contract: section 13.
import type { Address, Found } from './addresses.ts';
import type { FailureKind } from './rules.ts';

/** What is sent to an endpoint. */
export interface Content {
  /** The id of the event. */
  readonly id: string;
  readonly body: string;
  /** The newest first. */
  readonly secrets: readonly string[];
}

/** A request to an endpoint, to an address that was checked. */
export interface EndpointRequest extends Content {
  readonly webhookId: number;
  readonly url: string;
  readonly address: Address;
  /** Unix milliseconds: the time that is signed. */
  readonly at: number;
  /** Milliseconds for the connection and the status of the answer. */
  readonly time: number;
}

/** What an endpoint answered, or why there is no answer. */
export type Answer =
  | { readonly status: number; readonly retryAfter?: number | undefined }
  | { readonly failure: FailureKind };

/** What speaks to the network for the sender. None of it rejects for what the network does. */
export interface Transport {
  /** Ends within `LOOKUP_TIME`. */
  lookUp(hostname: string, accountId: number): Promise<Found>;
  /** Undefined: it was withdrawn, so nothing was sent. */
  post(request: EndpointRequest): Promise<Answer | undefined>;
  /** When it resolves, no request of this webhook leaves that was made before. Requests that have left go on. */
  withdraw(webhookId: number): Promise<void>;
  /** Ends everything. What has not ended counts as withdrawn. */
  close(): Promise<void>;
}

export interface TransportSettings {
  readonly allowPrivate: boolean;
  /** Name servers, in place of those of the system. */
  readonly nameServers?: readonly string[] | undefined;
  /** Certificates that are trusted, in place of those of the system. */
  readonly ca?: string | undefined;
}
