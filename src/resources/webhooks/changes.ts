// Contract: section 13.

/** Brings changes of webhooks that are committed to whoever sends to them, before the changes are answered. */
export class WebhookChanges {
  #listener: (webhookIds: readonly number[]) => Promise<void> = async () => undefined;

  /** `listener` resolves when nothing leaves any more by what was before. */
  listen(listener: (webhookIds: readonly number[]) => Promise<void>): void {
    this.#listener = listener;
  }

  tell(webhookIds: readonly number[]): Promise<void> {
    return this.#listener(webhookIds);
  }
}
