// Contract: section 10.

/** Who changed something, with the client address that the change came from, if it came over the network. */
export type Actor = (
  | { readonly kind: 'operator'; readonly name: string }
  /** A key of a client. */
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

/** An actor as operators see it, without the address. */
export function toActor(actor: Actor): { readonly kind: Actor['kind']; readonly name: string } {
  return { kind: actor.kind, name: actorName(actor) };
}

/** The kind and the name of an actor in one text: `key:12`. Without the address. */
export function textFromActor(actor: Actor): string {
  return `${actor.kind}:${actorName(actor)}`;
}

/** Undefined for a text of a later version, which has other kinds. */
export function actorFromText(stored: string | undefined): Actor | undefined {
  const [, kind = '', name = ''] = /^([a-z]+):(.*)/s.exec(stored ?? '') ?? [];
  if (!isActorKind(kind)) return undefined;
  return kind === 'key' ? { kind, id: Number(name) } : { kind, name };
}

/** What the service does by itself: an expiry, a threshold of a limit. */
export const SERVICE: Actor = { kind: 'system', name: 'service' };

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
