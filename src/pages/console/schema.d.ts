// Made from the description of the admin API by `npm run openapi`.
/** An integer of 64 bits: a number up to ±(2^53 − 1), and a bigint beyond, so that it is never rounded. */
export type Int64 = number | bigint;

/** A page of accounts. */
export type Accounts = readonly Account[];

/** An account. */
export interface Account {
  readonly id: number;
  readonly name: string;
  readonly plan: 'free' | 'pro' | 'business' | 'enterprise';
  readonly limits: {
    readonly perMinute: number;
    readonly perDay: number;
  };
  readonly note?: string | undefined;
  readonly createdAt: string;
  /** When one of its keys was last used, up to a minute late. */
  readonly lastUsedAt?: string | undefined;
  readonly suspendedAt?: string | undefined;
}

/** How many rows a list has. */
export interface ListCount {
  /** How many rows the list has with these filters. */
  readonly count: number;
  /** How many rows it has without filters. */
  readonly total: number;
}

/** An account to add. Plan `enterprise` needs limits. */
export interface NewAccount {
  readonly name: string;
  readonly plan?: 'free' | 'pro' | 'business' | 'enterprise' | undefined;
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
  /** What operators note about the account. An empty text removes it. */
  readonly note?: string | undefined;
}

/** An account, its windows and the bans of its keys. */
export interface AccountDetails {
  readonly id: number;
  readonly name: string;
  readonly plan: 'free' | 'pro' | 'business' | 'enterprise';
  readonly limits: {
    readonly perMinute: number;
    readonly perDay: number;
  };
  readonly note?: string | undefined;
  readonly createdAt: string;
  /** When one of its keys was last used, up to a minute late. */
  readonly lastUsedAt?: string | undefined;
  readonly suspendedAt?: string | undefined;
  readonly minute: {
    readonly limit: number;
    readonly remaining: number;
    readonly reset: number;
  };
  readonly day: {
    readonly limit: number;
    readonly remaining: number;
    readonly reset: number;
  };
  readonly bans: readonly {
    readonly keyId: number;
    readonly label?: string | undefined;
    readonly until: string;
    readonly count: number;
  }[];
}

/** A change of an account. With `expected`, the answer is 409 when the account has other values. */
export interface AccountPatch {
  readonly name?: string | undefined;
  readonly plan?: 'free' | 'pro' | 'business' | 'enterprise' | undefined;
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
  /** What operators note about the account. An empty text removes it. */
  readonly note?: string | undefined;
  readonly suspended?: boolean | undefined;
  readonly expected?:
    | {
        readonly name?: string | undefined;
        readonly plan?: 'free' | 'pro' | 'business' | 'enterprise' | undefined;
        readonly perMinute?: number | undefined;
        readonly perDay?: number | undefined;
        /** What operators note about the account. An empty text removes it. */
        readonly note?: string | undefined;
        readonly suspended?: boolean | undefined;
      }
    | undefined;
}

/** A page of animals. */
export type Pets = readonly Pet[];

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
  /** The account that the animal belongs to. 0 is the house. */
  readonly ownerId: number;
  /** The name of the account. The house has none. */
  readonly owner?: string | undefined;
  /** When it was added or last changed. Absent when nobody knows. */
  readonly changedAt?: string | undefined;
  /** By whom: an `operator`, a `key` by its number, or a user of the `system`; `service` is the service itself, which expires orders. Absent when nobody knows. */
  readonly changedBy?:
    | {
        readonly kind: string;
        readonly name: string;
      }
    | undefined;
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

/** A page of the audit log. */
export type AuditEntries = readonly AuditEntry[];

/** A change, with the values before and after. */
export interface AuditEntry {
  readonly id: number;
  readonly time: string;
  /** An `operator`, a `key` by its number, or a user of the `system`. */
  readonly actor: {
    readonly kind: string;
    readonly name: string;
  };
  readonly address?: string | undefined;
  readonly action: string;
  readonly target: {
    readonly kind: string;
    readonly name: string;
  };
  readonly accountId?: number | undefined;
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  readonly after?: Readonly<Record<string, unknown>> | undefined;
}

/** A page of bans. */
export type Bans = readonly Ban[];

/** A ban in force. */
export interface Ban {
  readonly keyId: number;
  readonly accountId: number;
  readonly account: string;
  readonly label?: string | undefined;
  readonly until: string;
  /** How many bans the key had in a row, this one included. */
  readonly count: number;
}

/** A page of categories. */
export type Categories = readonly Category[];

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

/** A page of keys that call deprecated operations. */
export type DeprecatedUses = readonly DeprecatedUse[];

/** A key that calls a deprecated operation. */
export interface DeprecatedUse {
  readonly operation: string;
  /** From then on, the operation answers 410. */
  readonly removal: string;
  /** The path to call instead. */
  readonly successor: string;
  readonly accountId: number;
  readonly account: string;
  readonly keyId: number;
  readonly label?: string | undefined;
  readonly requests: number;
  /** The beginning of the last hour with a call. */
  readonly lastHour: string;
}

/** A page of failed requests. */
export type FailedRequests = readonly FailedRequest[];

/** A request that was answered with an error. */
export interface FailedRequest {
  readonly id: number;
  readonly time: string;
  readonly requestId: string;
  readonly method: string;
  /** As a template. Absent if the API has no such path. */
  readonly path?: string | undefined;
  readonly operation?: string | undefined;
  readonly status: number;
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
  readonly message: string;
  /** The parameter, field or header that the message is about. */
  readonly parameter?: string | undefined;
  readonly accountId?: number | undefined;
  readonly account?: string | undefined;
  /** The key that was sent, also if it has expired or was revoked. */
  readonly keyId?: number | undefined;
  /** Of the client: an IPv4 address, or an IPv6 network of 64 bits. */
  readonly address: string;
  /** Its first 200 characters. Absent if it may hold an API key. */
  readonly userAgent?: string | undefined;
}

/** A page of groups of failed requests. */
export type FailedRequestGroups = readonly FailedRequestGroup[];

/** Requests that failed for the same cause. */
export interface FailedRequestGroup {
  /** How many of them are kept. */
  readonly count: number;
  /** When the first one that is kept began. */
  readonly firstTime: string;
  /** The newest one. */
  readonly last: FailedRequest;
}

/** A page of keys. */
export type Keys = readonly Key[];

/** An API key, without the key itself. */
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
  readonly accountId: number;
  readonly account: string;
  readonly rotatedTo?: number | undefined;
  readonly bannedUntil?: string | undefined;
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

/** State of a key. A key works while it is `active`, and while it is `rotated`: another key has replaced it, and it ends soon. */
export type KeyState = 'active' | 'rotated' | 'expired' | 'revoked';

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
  readonly accountId: number;
  readonly account: string;
  readonly rotatedTo?: number | undefined;
  readonly bannedUntil?: string | undefined;
  /** The key itself. It is shown only in this answer: store it now. */
  readonly key: string;
}

/** Settings of a key. */
export interface NewKey {
  /** A note to recognize the key by. It must not hold an API key. */
  readonly label?: string | undefined;
  /** What the key may do. By default everything except `pets:manage`, `keys:manage` and `webhooks:manage`. */
  readonly scopes?: readonly Scope[] | undefined;
  /** When the key ends. By default it does not. */
  readonly expiresAt?: string | undefined;
}

/** A whole API key. */
export interface FindKey {
  readonly key: string;
}

/** How a key is rotated. */
export interface Rotation {
  /** Seconds that the old key still works. With 0 it ends at once. It never works past its own expiry. */
  readonly grace?: number | undefined;
}

/** The calling operator and the service. */
export interface Me {
  readonly id: number;
  readonly name: string;
  readonly role: 'viewer' | 'admin';
  readonly environment: string;
  readonly version: string;
}

/** A page of operators. */
export type Operators = readonly Operator[];

/** A person who runs the service, or one of their programs. */
export interface Operator {
  readonly id: number;
  readonly name: string;
  readonly role: 'viewer' | 'admin';
  readonly createdAt: string;
  /** When the operator last signed in. */
  readonly lastSignInAt?: string | undefined;
}

/** An operator to add. */
export interface NewOperator {
  readonly name: string;
  readonly role: 'viewer' | 'admin';
}

/** An address that signs in once. */
export interface SignInLink {
  readonly link: string;
  readonly expiresAt: string;
}

/** A page of records. */
export type Tokens = readonly Token[];

/** A token of an operator, without the token itself. */
export interface Token {
  readonly id: number;
  readonly operator: string;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
}

/** A token that was just created, with the token itself. */
export interface IssuedToken {
  readonly id: number;
  readonly operator: string;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  readonly token: string;
}

/** When a token ends. Without `expiresAt`, it ends with its operator. */
export interface NewToken {
  readonly expiresAt?: string | undefined;
}

/** A page of orders. */
export type Orders = readonly Order[];

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
  readonly accountId: number;
  readonly account: string;
}

/** Status of an order. An order is open while it is pending. */
export type OrderStatus = 'pending' | 'complete' | 'cancelled' | 'expired';

/** Animals, requests, latency, limits and health of the service. */
export interface Overview {
  /** As of a moment within the last minute. */
  readonly animals: {
    /** Animals that can be ordered. */
    readonly available: number;
    /** Animals that an order holds, or that are set so. */
    readonly held: number;
    /** Orders that expire within a day, at most 10000. */
    readonly ending: number;
    /** Orders that were completed in the last seven days, at most 10000. */
    readonly adopted: number;
  };
  readonly startedAt: string;
  /** Over the last ten seconds. */
  readonly requestsPerSecond: number;
  /** Time of work, of this minute and the one before, without waits for a client, an event or an endpoint. Absent without requests. */
  readonly latency: {
    /** Milliseconds. */
    readonly p50?: number | undefined;
    /** Milliseconds. */
    readonly p99?: number | undefined;
  };
  /** The last 60 minutes of this instance, the oldest first. */
  readonly minutes: readonly {
    readonly start: string;
    /** Answered with 2xx or 3xx. */
    readonly ok: number;
    /** Answered with 4xx but 429. */
    readonly clientError: number;
    /** Answered with 429. */
    readonly refused: number;
    /** Answered with 5xx. */
    readonly serverError: number;
    /** Milliseconds. */
    readonly p50?: number | undefined;
    /** Milliseconds. */
    readonly p99?: number | undefined;
  }[];
  /** The last 24 hours of all instances, the oldest first. */
  readonly hours: readonly {
    readonly start: string;
    /** Answered with 2xx or 3xx. */
    readonly ok: number;
    /** Answered with 4xx but 429. */
    readonly clientError: number;
    /** Answered with 429. */
    readonly refused: number;
    /** Answered with 5xx. */
    readonly serverError: number;
  }[];
  /** How many keys are banned now. */
  readonly bans: number;
  /** At most five accounts with the smallest share of a window left. */
  readonly nearest: readonly {
    readonly accountId: number;
    readonly account: string;
    readonly window: 'minute' | 'day';
    readonly limit: number;
    readonly remaining: number;
    /** Unix seconds. */
    readonly reset: number;
  }[];
  readonly health: {
    readonly database: {
      readonly isUp: boolean;
      /** Whether the last attempt to write succeeded. */
      readonly isWritable: boolean;
      /** Milliseconds. */
      readonly milliseconds: number;
    };
    readonly redis?:
      | {
          readonly isUp: boolean;
        }
      | undefined;
  };
}

/** A page of passkeys. */
export type Passkeys = readonly Passkey[];

/** A passkey of an operator. `lastUsedAt` is its last sign-in. */
export interface Passkey {
  readonly id: number;
  readonly operatorId: number;
  readonly operator: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt?: string | undefined;
}

/** What `PublicKeyCredential.parseCreationOptionsFromJSON` takes: the options of WebAuthn, with a challenge that works once within 5 minutes. */
export interface PasskeyChallenge {
  readonly challenge: string;
}

/** A passkey to add: its name, and what `PublicKeyCredential.toJSON` gives. */
export interface NewPasskey {
  readonly name: string;
  readonly credential: {
    readonly id: string;
    readonly rawId: string;
    readonly type: 'public-key';
    readonly response: {
      readonly clientDataJSON: string;
      readonly attestationObject: string;
    };
  };
}

/** Another name. */
export interface PasskeyPatch {
  readonly name: string;
}

/** Requests of a range. Each row has `start`, `operation`, a key or an account, as `by` says. */
export type UsageSums = readonly {
  readonly start?: string | undefined;
  readonly operation?: string | undefined;
  readonly keyId?: number | undefined;
  readonly accountId?: number | undefined;
  readonly account?: string | undefined;
  readonly label?: string | undefined;
  /** Answered with 2xx or 3xx. */
  readonly ok: number;
  /** Answered with 4xx but 429. */
  readonly clientError: number;
  /** Answered with 429. */
  readonly refused: number;
  /** Answered with 5xx. */
  readonly serverError: number;
}[];

/** A page of webhooks. */
export type Webhooks = readonly Webhook[];

/** A webhook of an account. */
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
  readonly accountId: number;
  readonly account: string;
  readonly failingSince?: string | undefined;
}

/** A page of attempts. */
export type Deliveries = readonly Delivery[];

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

/** What became of an attempt. */
export type DeliveryStatus = 'succeeded' | 'failed';

/** Whether an endpoint gets events. */
export interface WebhookState {
  readonly enabled: boolean;
}

/** Why a request was refused. */
export interface Error {
  /** Machine-readable error code. */
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
  /** Human-readable description of the error: what to do about it. */
  readonly message: string;
  /** The HTTP status code of the response. */
  readonly status: number;
}
