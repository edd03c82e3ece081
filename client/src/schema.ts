// Made from the description of the service by `npm run openapi`.
/** An integer of 64 bits: a number up to ±(2^53 − 1), and a bigint beyond, so that it is never rounded. */
export type Int64 = number | bigint;

/** An animal of the catalogue. */
export interface Pet {
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
  /** Beta. What the animal is like. */
  readonly description?: string | undefined;
  /** Beta. Its breed. */
  readonly breed?: string | undefined;
  /** Beta. Its sex. */
  readonly sex?: 'female' | 'male' | undefined;
  /** Beta. How large it is, or will be. */
  readonly size?: 'small' | 'medium' | 'large' | 'extra_large' | undefined;
  /** Beta. Its color. */
  readonly color?: string | undefined;
  /** Beta. The day of its birth, often an estimate: not after tomorrow in UTC. */
  readonly birthDate?: string | undefined;
  /** Beta. The https addresses of photos, of at most 1024 characters as the URL Standard writes them. The service never fetches them. */
  readonly photoUrls?: readonly string[] | undefined;
  /** Beta. Short texts to find it by. No two differ in case only. */
  readonly tags?: readonly string[] | undefined;
  /** Beta. The owner's own number of the animal: no two animals of an account have the same. */
  readonly reference?: string | undefined;
  /** Unique identifier assigned by the service on creation. */
  readonly id: Int64;
}

/** Availability status of an animal. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** An animal to add. An empty text or list counts as absent. */
export interface NewPet {
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
  /** Beta. What the animal is like. */
  readonly description?: string | undefined;
  /** Beta. Its breed. */
  readonly breed?: string | undefined;
  /** Beta. Its sex. */
  readonly sex?: 'female' | 'male' | undefined;
  /** Beta. How large it is, or will be. */
  readonly size?: 'small' | 'medium' | 'large' | 'extra_large' | undefined;
  /** Beta. Its color. */
  readonly color?: string | undefined;
  /** Beta. The day of its birth, often an estimate: not after tomorrow in UTC. */
  readonly birthDate?: string | undefined;
  /** Beta. The https addresses of photos, of at most 1024 characters as the URL Standard writes them. The service never fetches them. */
  readonly photoUrls?: readonly string[] | undefined;
  /** Beta. Short texts to find it by. No two differ in case only. */
  readonly tags?: readonly string[] | undefined;
  /** Beta. The owner's own number of the animal: no two animals of an account have the same. */
  readonly reference?: string | undefined;
}

/** A change of an animal. `null` removes a field that is not required. */
export interface PetPatch {
  /** The animal's name. */
  readonly name?: string | undefined;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId?: Int64 | undefined;
  readonly status?: PetStatus | null | undefined;
  /** Beta. What the animal is like. */
  readonly description?: string | null | undefined;
  /** Beta. Its breed. */
  readonly breed?: string | null | undefined;
  /** Beta. Its sex. */
  readonly sex?: 'female' | 'male' | null | undefined;
  /** Beta. How large it is, or will be. */
  readonly size?: 'small' | 'medium' | 'large' | 'extra_large' | null | undefined;
  /** Beta. Its color. */
  readonly color?: string | null | undefined;
  /** Beta. The day of its birth, often an estimate: not after tomorrow in UTC. */
  readonly birthDate?: string | null | undefined;
  /** Beta. The https addresses of photos, of at most 1024 characters as the URL Standard writes them. The service never fetches them. */
  readonly photoUrls?: readonly string[] | null | undefined;
  /** Beta. Short texts to find it by. No two differ in case only. */
  readonly tags?: readonly string[] | null | undefined;
  /** Beta. The owner's own number of the animal: no two animals of an account have the same. */
  readonly reference?: string | null | undefined;
}

/** An account as its keys see it. */
export interface OwnAccount {
  /** The name of the account. */
  readonly name: string;
  /** The plan of the account. */
  readonly plan: 'free' | 'pro' | 'business' | 'enterprise';
  readonly limits: AccountLimits;
  /** What the calling key may do. */
  readonly scopes: readonly Scope[];
  readonly minute: AccountWindow;
  readonly day: AccountWindow;
  /** The bans in force of keys of this environment. */
  readonly bans: readonly KeyBan[];
}

/** The requests that an account may make. */
export interface AccountLimits {
  /** Requests per minute. */
  readonly perMinute: number;
  /** Requests per UTC day. */
  readonly perDay: number;
}

/** What a key may do. */
export type Scope =
  | 'pets:read'
  | 'pets:write'
  | 'pets:manage'
  | 'store:read'
  | 'store:write'
  | 'events:read'
  | 'keys:manage'
  | 'webhooks:manage';

/** A window of the limits, as it is now. */
export interface AccountWindow {
  /** Requests that the window has. */
  readonly limit: number;
  /** Requests that remain. */
  readonly remaining: number;
  /** When the window ends: a Unix timestamp in seconds, rounded up. */
  readonly reset: Int64;
}

/** A ban in force. */
export interface KeyBan {
  /** Identifier of the key. */
  readonly keyId: Int64;
  /** When the ban ends. */
  readonly until: string;
  /** How many bans the key had in a row, this one included. */
  readonly count: number;
}

/** The requests of one interval, operation and key, by their outcomes. See `by` for rows that add up keys or operations. */
export interface Usage {
  /** When the interval begins. */
  readonly start: string;
  /** The operation; `other` for requests that match none. Absent if `by` is `key`. */
  readonly operation?: string | undefined;
  /** Identifier of the key. Absent if `by` is `operation`. */
  readonly keyId?: Int64 | undefined;
  /** Requests that were answered with 2xx or 3xx. */
  readonly ok: number;
  /** Requests that were answered with 4xx, but not 429. */
  readonly clientError: number;
  /** Requests that were answered with 429. */
  readonly refused: number;
  /** Requests that were answered with 5xx. */
  readonly serverError: number;
}

/** Length of the intervals of a usage history, in UTC. */
export type UsageInterval = 'hour' | 'day';

/** What the rows of a usage history tell apart besides intervals. */
export type UsageBy = 'operation' | 'key';

/** A request that was answered with an error. */
export interface FailedRequest {
  /** The `X-Request-Id` of its response. */
  readonly requestId: string;
  /** When it began. */
  readonly timestamp: string;
  /** Its method. */
  readonly method: string;
  /** Its path, with names in place of ids. Absent if the API has no such path. */
  readonly path?: string | undefined;
  /** The status of its response. */
  readonly status: number;
  /** The error code of its response. */
  readonly code:
    | 'invalid_request'
    | 'invalid_parameter'
    | 'unauthorized'
    | 'insufficient_scope'
    | 'not_found'
    | 'method_not_allowed'
    | 'conflict'
    | 'gone'
    | 'cursor_expired'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'idempotency_key_reused'
    | 'rate_limit_exceeded'
    | 'daily_limit_exceeded'
    | 'key_banned'
    | 'internal_error'
    | 'unavailable';
  /** The message of its response. */
  readonly message: string;
  /** Identifier of the key that was sent, also if it has expired or was revoked. */
  readonly keyId: Int64;
}

/** A category of animals. */
export interface Category {
  /** The name of the category. No other category has it, ignoring case. */
  readonly name: string;
  /** What belongs to the category. */
  readonly description?: string | undefined;
  /** Unique identifier assigned by the service on creation. */
  readonly id: Int64;
}

/** A category to add. */
export interface NewCategory {
  /** The name of the category. No other category has it, ignoring case. */
  readonly name: string;
  /** What belongs to the category. */
  readonly description?: string | undefined;
}

/** A change of a category. `null` removes the description. */
export interface CategoryPatch {
  /** The name of the category. No other category has it, ignoring case. */
  readonly name?: string | undefined;
  /** What belongs to the category. */
  readonly description?: string | null | undefined;
}

/** Something that happened. `type` says what, and which schema `data` has. */
export type Event = PetEvent | CategoryEvent | OrderEvent | LimitEvent | KeyEvent | WebhookEvent;

/** Something happened to an animal. `data` is the animal, of a deleted one as it was before. */
export interface PetEvent {
  /** Identifies the event: the same in the feed and in webhooks. It is no cursor. */
  readonly id: string;
  /** What happened. */
  readonly type: 'pet.created' | 'pet.updated' | 'pet.deleted';
  /** When it happened. */
  readonly timestamp: string;
  /** Version of the thing: 1 when it was added, one more with each change. A thing that is older than events begins later. */
  readonly version: Int64;
  readonly data: Pet;
}

/** Something happened to a category. `data` is the category, of a deleted one as it was before. */
export interface CategoryEvent {
  /** Identifies the event: the same in the feed and in webhooks. It is no cursor. */
  readonly id: string;
  /** What happened. */
  readonly type: 'category.created' | 'category.updated' | 'category.deleted';
  /** When it happened. */
  readonly timestamp: string;
  /** Version of the thing: 1 when it was added, one more with each change. A thing that is older than events begins later. */
  readonly version: Int64;
  readonly data: Category;
}

/** Something happened to an order. `data` is the order. */
export interface OrderEvent {
  /** Identifies the event: the same in the feed and in webhooks. It is no cursor. */
  readonly id: string;
  /** What happened. */
  readonly type: 'order.created' | 'order.completed' | 'order.cancelled' | 'order.expired';
  /** When it happened. */
  readonly timestamp: string;
  /** Version of the thing: 1 when it was added, one more with each change. A thing that is older than events begins later. */
  readonly version: Int64;
  readonly data: Order;
}

/** An order of an account. */
export interface Order {
  /** Unique identifier assigned by the service on creation. */
  readonly id: Int64;
  /** Identifier of the animal. */
  readonly petId: Int64;
  /** Always 1. */
  readonly quantity: 1;
  /** When the animal is to be handed over, in UTC. */
  readonly shipDate?: string | undefined;
  readonly status: OrderStatus;
  /** Whether the status is `complete`. */
  readonly complete: boolean;
  /** When the order was made. */
  readonly createdAt: string;
  /** When the order expires if it is still open. */
  readonly expiresAt: string;
}

/** Status of an order. An order is open while it is pending. */
export type OrderStatus = 'pending' | 'complete' | 'cancelled' | 'expired';

/** How much of the limit of a day the account has used. */
export interface LimitEvent {
  /** Identifies the event: the same in the feed and in webhooks. It is no cursor. */
  readonly id: string;
  /** What happened. */
  readonly type: 'limit.warning' | 'limit.reached';
  /** When it happened. */
  readonly timestamp: string;
  readonly data: LimitUse;
}

/** How much of the limit of a day is used. */
export interface LimitUse {
  /** The UTC day. */
  readonly day: string;
  /** Requests that the plan allows a day. */
  readonly limit: Int64;
  /** Requests that were counted. */
  readonly used: Int64;
}

/** Something happened to a key of the account. `data` is the key, without the key itself. */
export interface KeyEvent {
  /** Identifies the event: the same in the feed and in webhooks. It is no cursor. */
  readonly id: string;
  /** What happened. */
  readonly type: 'key.created' | 'key.rotated' | 'key.revoked' | 'key.banned' | 'key.expiring';
  /** When it happened. */
  readonly timestamp: string;
  readonly data: Key;
}

/** A key of an account, without the key itself. */
export interface Key {
  /** Unique identifier assigned by the service. */
  readonly id: Int64;
  /** A note to recognize the key by. */
  readonly label?: string | undefined;
  /** The environment that the key belongs to: that of the service. */
  readonly environment: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  readonly state: KeyState;
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key ends, or ended. */
  readonly expiresAt?: string | undefined;
  /** When the key was last used, up to a minute late. */
  readonly lastUsedAt?: string | undefined;
  /** The last four characters of the key, to find it by. */
  readonly ending?: string | undefined;
}

/** State of a key. A key works while it is `active`, and while it is `rotated`: another key has replaced it, and it ends soon. */
export type KeyState = 'active' | 'rotated' | 'expired' | 'revoked';

/** Something happened to a webhook of the account. `data` is the webhook, without its secret. */
export interface WebhookEvent {
  /** Identifies the event: the same in the feed and in webhooks. It is no cursor. */
  readonly id: string;
  /** What happened. */
  readonly type: 'webhook.disabled';
  /** When it happened. */
  readonly timestamp: string;
  readonly data: Webhook;
}

/** An endpoint that gets events, without its secret. */
export interface Webhook {
  /** Unique identifier assigned by the service. */
  readonly id: Int64;
  /** Where the events go: https, at a public address. */
  readonly url: string;
  /** The types of its events: a type, all types of a kind (`order.*`) or all (`*`). It gets those that the key that chose them may see. */
  readonly types: readonly (
    | '*'
    | 'pet.*'
    | 'category.*'
    | 'order.*'
    | 'limit.*'
    | 'key.*'
    | 'webhook.*'
    | 'pet.created'
    | 'pet.updated'
    | 'pet.deleted'
    | 'category.created'
    | 'category.updated'
    | 'category.deleted'
    | 'order.created'
    | 'order.completed'
    | 'order.cancelled'
    | 'order.expired'
    | 'limit.warning'
    | 'limit.reached'
    | 'key.created'
    | 'key.rotated'
    | 'key.revoked'
    | 'key.banned'
    | 'key.expiring'
    | 'webhook.disabled'
  )[];
  /** What the endpoint is for. */
  readonly description?: string | undefined;
  /** Whether it gets events. */
  readonly enabled: boolean;
  /** Why it gets none: `request` (somebody disabled it), `gone` (it answered 410), `failing` (for five days), `copied` (the database is a copy). */
  readonly disabledReason?: 'request' | 'gone' | 'failing' | 'copied' | undefined;
  /** When it was added. */
  readonly createdAt: string;
  /** Identifier of the key that added it. */
  readonly createdBy: Int64;
  /** Events that were deleted before the endpoint got them, because it was disabled for too long. */
  readonly missed: Int64;
}

/** A key that was just created. */
export interface IssuedKey {
  /** Unique identifier assigned by the service. */
  readonly id: Int64;
  /** A note to recognize the key by. */
  readonly label?: string | undefined;
  /** The environment that the key belongs to: that of the service. */
  readonly environment: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  readonly state: KeyState;
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key ends, or ended. */
  readonly expiresAt?: string | undefined;
  /** When the key was last used, up to a minute late. */
  readonly lastUsedAt?: string | undefined;
  /** The last four characters of the key, to find it by. */
  readonly ending?: string | undefined;
  /** The key itself. It is shown only in this answer: store it now. */
  readonly key: string;
}

/** A key to create. */
export interface NewKey {
  /** A note to recognize the key by. It must not hold an API key. */
  readonly label?: string | undefined;
  /** What the key may do, at most what the calling key may do. By default what the calling key may do, except `pets:manage`, `keys:manage` and `webhooks:manage`. */
  readonly scopes?: readonly Scope[] | undefined;
  /** When the key ends. By default it does not. */
  readonly expiresAt?: string | undefined;
}

/** How a key is rotated. */
export interface Rotation {
  /** Seconds that the old key still works. With 0 it ends at once. It never works past its own expiry. */
  readonly grace?: number | undefined;
}

/** How many animals there are of each status, as of a moment within the last minute. */
export interface Inventory {
  /** Animals that can be ordered. */
  readonly available: number;
  /** Animals that an order holds, or that are set so. */
  readonly pending: number;
  /** Animals that are sold. */
  readonly sold: number;
  /** Animals without a status. */
  readonly unknown: number;
}

/** An order of an animal. */
export interface NewOrder {
  /** Identifier of the animal. */
  readonly petId: Int64;
  /** Always 1. */
  readonly quantity?: 1 | undefined;
  /** When the animal is to be handed over. */
  readonly shipDate?: string | undefined;
}

/** A webhook with its secret. */
export interface WebhookWithSecret {
  /** Unique identifier assigned by the service. */
  readonly id: Int64;
  /** Where the events go: https, at a public address. */
  readonly url: string;
  /** The types of its events: a type, all types of a kind (`order.*`) or all (`*`). It gets those that the key that chose them may see. */
  readonly types: readonly (
    | '*'
    | 'pet.*'
    | 'category.*'
    | 'order.*'
    | 'limit.*'
    | 'key.*'
    | 'webhook.*'
    | 'pet.created'
    | 'pet.updated'
    | 'pet.deleted'
    | 'category.created'
    | 'category.updated'
    | 'category.deleted'
    | 'order.created'
    | 'order.completed'
    | 'order.cancelled'
    | 'order.expired'
    | 'limit.warning'
    | 'limit.reached'
    | 'key.created'
    | 'key.rotated'
    | 'key.revoked'
    | 'key.banned'
    | 'key.expiring'
    | 'webhook.disabled'
  )[];
  /** What the endpoint is for. */
  readonly description?: string | undefined;
  /** Whether it gets events. */
  readonly enabled: boolean;
  /** Why it gets none: `request` (somebody disabled it), `gone` (it answered 410), `failing` (for five days), `copied` (the database is a copy). */
  readonly disabledReason?: 'request' | 'gone' | 'failing' | 'copied' | undefined;
  /** When it was added. */
  readonly createdAt: string;
  /** Identifier of the key that added it. */
  readonly createdBy: Int64;
  /** Events that were deleted before the endpoint got them, because it was disabled for too long. */
  readonly missed: Int64;
  /** Signs the events. It is shown only in this answer: store it now. */
  readonly secret: string;
}

/** A webhook to add. Without `types` it gets all events. */
export interface NewWebhook {
  /** Where the events go: https, at a public address. */
  readonly url: string;
  /** The types of its events: a type, all types of a kind (`order.*`) or all (`*`). It gets those that the key that chose them may see. */
  readonly types?:
    | readonly (
        | '*'
        | 'pet.*'
        | 'category.*'
        | 'order.*'
        | 'limit.*'
        | 'key.*'
        | 'webhook.*'
        | 'pet.created'
        | 'pet.updated'
        | 'pet.deleted'
        | 'category.created'
        | 'category.updated'
        | 'category.deleted'
        | 'order.created'
        | 'order.completed'
        | 'order.cancelled'
        | 'order.expired'
        | 'limit.warning'
        | 'limit.reached'
        | 'key.created'
        | 'key.rotated'
        | 'key.revoked'
        | 'key.banned'
        | 'key.expiring'
        | 'webhook.disabled'
      )[]
    | undefined;
  /** What the endpoint is for. */
  readonly description?: string | undefined;
}

/** A change of a webhook. `null` removes the description. */
export interface WebhookPatch {
  /** Where the events go: https, at a public address. */
  readonly url?: string | undefined;
  /** The types of its events: a type, all types of a kind (`order.*`) or all (`*`). It gets those that the key that chose them may see. */
  readonly types?:
    | readonly (
        | '*'
        | 'pet.*'
        | 'category.*'
        | 'order.*'
        | 'limit.*'
        | 'key.*'
        | 'webhook.*'
        | 'pet.created'
        | 'pet.updated'
        | 'pet.deleted'
        | 'category.created'
        | 'category.updated'
        | 'category.deleted'
        | 'order.created'
        | 'order.completed'
        | 'order.cancelled'
        | 'order.expired'
        | 'limit.warning'
        | 'limit.reached'
        | 'key.created'
        | 'key.rotated'
        | 'key.revoked'
        | 'key.banned'
        | 'key.expiring'
        | 'webhook.disabled'
      )[]
    | undefined;
  /** What the endpoint is for. */
  readonly description?: string | null | undefined;
  /** Whether it gets events. When it is enabled again, it goes on from its place. */
  readonly enabled?: boolean | undefined;
}

/** The attempt of a test. */
export interface WebhookTest {
  /** Identifier of the attempt. */
  readonly id: Int64;
  /** The `id` of the event. */
  readonly eventId: string;
  /** The type of the event, or `webhook.test`. */
  readonly type: string;
  /** The number of the attempt: 1 for the first. */
  readonly attempt: number;
  /** When it began. */
  readonly at: string;
  readonly status: DeliveryStatus;
  /** The status of the answer. */
  readonly httpStatus?: number | undefined;
  /** Why it failed. */
  readonly failure?:
    | 'url_refused'
    | 'name_not_resolved'
    | 'address_not_public'
    | 'connection_failed'
    | 'tls_failed'
    | 'timeout'
    | 'invalid_answer'
    | 'redirect'
    | 'status'
    | undefined;
  /** How long it took, in milliseconds. */
  readonly durationMs: Int64;
  /** Whether the webhook is enabled. A disabled one gets tests, but no events. */
  readonly enabled: boolean;
}

/** What became of an attempt. */
export type DeliveryStatus = 'succeeded' | 'failed';

/** An attempt to deliver an event. */
export interface Delivery {
  /** Identifier of the attempt. */
  readonly id: Int64;
  /** The `id` of the event. */
  readonly eventId: string;
  /** The type of the event, or `webhook.test`. */
  readonly type: string;
  /** The number of the attempt: 1 for the first. */
  readonly attempt: number;
  /** When it began. */
  readonly at: string;
  readonly status: DeliveryStatus;
  /** The status of the answer. */
  readonly httpStatus?: number | undefined;
  /** Why it failed. */
  readonly failure?:
    | 'url_refused'
    | 'name_not_resolved'
    | 'address_not_public'
    | 'connection_failed'
    | 'tls_failed'
    | 'timeout'
    | 'invalid_answer'
    | 'redirect'
    | 'status'
    | undefined;
  /** How long it took, in milliseconds. */
  readonly durationMs: Int64;
}

/** An attempt with its request. `request` is absent if nothing was sent, if the event is no longer kept, or if the key may not see it. */
export interface DeliveryDetails {
  /** Identifier of the attempt. */
  readonly id: Int64;
  /** The `id` of the event. */
  readonly eventId: string;
  /** The type of the event, or `webhook.test`. */
  readonly type: string;
  /** The number of the attempt: 1 for the first. */
  readonly attempt: number;
  /** When it began. */
  readonly at: string;
  readonly status: DeliveryStatus;
  /** The status of the answer. */
  readonly httpStatus?: number | undefined;
  /** Why it failed. */
  readonly failure?:
    | 'url_refused'
    | 'name_not_resolved'
    | 'address_not_public'
    | 'connection_failed'
    | 'tls_failed'
    | 'timeout'
    | 'invalid_answer'
    | 'redirect'
    | 'status'
    | undefined;
  /** How long it took, in milliseconds. */
  readonly durationMs: Int64;
  readonly request?: SentRequest | undefined;
}

/** What was sent to an endpoint. */
export interface SentRequest {
  /** The headers, except those of the connection. */
  readonly headers: {
    /** The type of the body. */
    readonly 'content-type': string;
    /** The service. */
    readonly 'user-agent': string;
    /** The `id` of the event. */
    readonly 'webhook-id': string;
    /** When it was sent: a Unix timestamp in seconds. */
    readonly 'webhook-timestamp': string;
    /** Absent if the secret was rotated since. */
    readonly 'webhook-signature'?: string | undefined;
  };
  /** The body, byte for byte. */
  readonly body: string;
}

/** From when events are sent again. */
export interface Replay {
  /** The first instant whose events are sent again. */
  readonly since: string;
}

/** Query parameters of `listPets`. */
export interface ListPetsQuery {
  /** Maximum number of animals to return. */
  readonly limit?: number | undefined;
  /** Keep only animals with this status. */
  readonly status?: PetStatus | undefined;
  /** Keep only animals of this category. */
  readonly categoryId?: Int64 | undefined;
  /** Keep only these animals: repeat the parameter for up to 100 of them. */
  readonly id?: readonly Int64[] | undefined;
  /** Beta. Keep only animals of this name: the whole name, in whatever case. */
  readonly name?: string | undefined;
  /** Beta. Keep only animals with this reference, their owner's own number. */
  readonly reference?: string | undefined;
  /** Beta. With `true`, keep only animals of the account of the key. */
  readonly mine?: boolean | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `getUsage`. */
export interface GetUsageQuery {
  /** Keep only intervals that begin at this instant or later. By default the 30 UTC days that end with the day of `to`, or 24 hours if `interval` is `hour`. A range by the hour has at most 31 days. */
  readonly from?: string | undefined;
  /** Keep only intervals that begin before this instant. By default now. */
  readonly to?: string | undefined;
  /** How long an interval is. By default a day. */
  readonly interval?: UsageInterval | undefined;
  /** `operation` adds up the keys: rows have no `keyId`. `key` adds up the operations: rows have no `operation`. By default nothing is added up. */
  readonly by?: UsageBy | undefined;
  /** `plan` leaves out the operations on the account, its keys and its webhooks. `holder` has only those. By default all are counted. */
  readonly allowance?: 'plan' | 'holder' | undefined;
  /** Maximum number of rows to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listRequests`. */
export interface ListRequestsQuery {
  /** Maximum number of failed requests to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listCategories`. */
export interface ListCategoriesQuery {
  /** Maximum number of categories to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listEvents`. */
export interface ListEventsQuery {
  /** Maximum number of events to return. */
  readonly limit?: number | undefined;
  /** Only events of these types: a type, all types of a kind (`order.*`) or all (`*`). Repeat the parameter for several. */
  readonly type?:
    | readonly (
        | '*'
        | 'pet.*'
        | 'category.*'
        | 'order.*'
        | 'limit.*'
        | 'key.*'
        | 'webhook.*'
        | 'pet.created'
        | 'pet.updated'
        | 'pet.deleted'
        | 'category.created'
        | 'category.updated'
        | 'category.deleted'
        | 'order.created'
        | 'order.completed'
        | 'order.cancelled'
        | 'order.expired'
        | 'limit.warning'
        | 'limit.reached'
        | 'key.created'
        | 'key.rotated'
        | 'key.revoked'
        | 'key.banned'
        | 'key.expiring'
        | 'webhook.disabled'
      )[]
    | undefined;
  /** Seconds that an empty page waits for an event. It counts as one request. */
  readonly wait?: number | undefined;
  /** Where the page begins: the cursor of the `Link` header of the page before, or `now`. Without it, the page begins with the oldest event. */
  readonly after?: string | undefined;
}

/** Query parameters of `listKeys`. */
export interface ListKeysQuery {
  /** Maximum number of keys to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `revokeKey`. */
export interface RevokeKeyQuery {
  /** `disable`: also disables the webhooks that the key added or last pointed somewhere, in the same moment. The calling key needs `webhooks:manage` too. */
  readonly webhooks?: 'disable' | undefined;
}

/** Query parameters of `listOrders`. */
export interface ListOrdersQuery {
  /** Maximum number of orders to return. */
  readonly limit?: number | undefined;
  /** Keep only orders with this status. */
  readonly status?: OrderStatus | undefined;
  /** Keep only orders of this animal. */
  readonly petId?: Int64 | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listWebhooks`. */
export interface ListWebhooksQuery {
  /** Maximum number of webhooks to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listDeliveries`. */
export interface ListDeliveriesQuery {
  /** Maximum number of attempts to return. */
  readonly limit?: number | undefined;
  /** Keep only attempts with this status. */
  readonly status?: 'succeeded' | 'failed' | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Machine-readable error code. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_parameter'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'gone'
  | 'cursor_expired'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limit_exceeded'
  | 'daily_limit_exceeded'
  | 'key_banned'
  | 'internal_error'
  | 'unavailable';
