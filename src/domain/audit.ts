// Contract: section 10.

/** Who changed something, with the client address that the change came from, if it came over the network. */
export type Actor = (
  | { readonly kind: 'operator'; readonly name: string }
  /** A key with the scope `keys:manage`. */
  | { readonly kind: 'key'; readonly id: number }
  /** The user of the system who ran a command. */
  | { readonly kind: 'system'; readonly name: string }
) & { readonly address?: string | undefined };

/** An actor whom no scope limits. */
export type OperatorActor = Exclude<Actor, { readonly kind: 'key' }>;

const ACTOR_KINDS: ReadonlySet<string> = new Set<Actor['kind']>(['operator', 'key', 'system']);

/** Whether a stored kind is one of this version. A later one may have more. */
export function isActorKind(kind: string): kind is Actor['kind'] {
  return ACTOR_KINDS.has(kind);
}

/** The name of an actor. That of a key is its number. */
export function actorName(actor: Actor): string {
  return actor.kind === 'key' ? String(actor.id) : actor.name;
}

/** What was changed. */
export interface Target {
  /** One word: `account`, `key`, `order`. */
  readonly kind: string;
  /** A name or a number. */
  readonly name: string;
}

/** The values of the target by their names, with instants as ISO 8601 in UTC. Never a key. */
export type AuditValues = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditChange {
  /** As a command or an operation names it: `keys revoke`. */
  readonly action: string;
  readonly target: Target;
  /** The account that the change concerns, if it concerns one. */
  readonly accountId?: number | undefined;
  readonly before?: AuditValues | undefined;
  readonly after?: AuditValues | undefined;
}
