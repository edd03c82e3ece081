// Contract: section 10.
import type { Actor, AuditValues, Target } from '../../domain/audit.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { addAudit, type AuditRepository } from './repository.ts';

/**
 * A command that changes the database. If it does so in several commits, the audit log has an entry for its start, and
 * one for its end with what it did. A start without an end means that the command failed or was killed
 * (docs/design/keys-and-operators.md).
 */
export class AuditedRun {
  readonly #audit: AuditRepository;
  readonly #actor: Actor;
  readonly #command: string;
  readonly #target: Target;
  readonly #accountId: number | undefined;
  #hasStarted = false;

  constructor(audit: AuditRepository, actor: Actor, command: string, target: Target, accountId?: number) {
    this.#audit = audit;
    this.#actor = actor;
    this.#command = command;
    this.#target = target;
    this.#accountId = accountId;
  }

  /** Await it before each change. When it rejects, nothing may be changed. */
  async start(): Promise<void> {
    if (this.#hasStarted) return;
    await this.#add('start');
    this.#hasStarted = true;
  }

  /** Adds nothing when nothing was changed. */
  async end(after: AuditValues): Promise<void> {
    if (!this.#hasStarted) return;
    await this.#add('end', after);
  }

  /** The only entry of a command that changes the database in one commit. */
  async addWhole(transaction: Transaction, after: AuditValues): Promise<void> {
    const change = { action: this.#command, target: this.#target, accountId: this.#accountId, after };
    await addAudit(transaction, this.#actor, change);
  }

  #add(part: 'start' | 'end', after?: AuditValues): Promise<void> {
    const action = `${this.#command} ${part}`;
    return this.#audit.add(this.#actor, { action, target: this.#target, accountId: this.#accountId, after });
  }
}
