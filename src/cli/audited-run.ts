// Contract: section 10.
import type { AuditLog, AuditValues, Author, Target } from '../domain/audit.ts';

/**
 * A command that changes the database in several commits. The audit log shows its begin, and its end with what it did.
 * A begin without an end: the command failed or was killed (docs/decisions/0069).
 */
export class AuditedRun {
  readonly #audit: Pick<AuditLog, 'add'>;
  readonly #author: Author;
  readonly #command: string;
  readonly #target: Target;
  #hasBegun = false;

  constructor(audit: Pick<AuditLog, 'add'>, author: Author, command: string, target: Target) {
    this.#audit = audit;
    this.#author = author;
    this.#command = command;
    this.#target = target;
  }

  /** Await it before each change. When it rejects, nothing may be changed. */
  async begin(): Promise<void> {
    if (this.#hasBegun) return;
    await this.#audit.add(this.#author, { action: `${this.#command} begin`, target: this.#target });
    this.#hasBegun = true;
  }

  /** Adds nothing when nothing was changed. */
  async end(after: AuditValues): Promise<void> {
    if (!this.#hasBegun) return;
    await this.#audit.add(this.#author, { action: `${this.#command} end`, target: this.#target, after });
  }
}
