import type { Completion } from '../completion.ts';
import { ReeveUnavailable } from '../errors.ts';

const mostOwed = 1000;

type SendReport = (opId: string, completion: Completion) => Promise<void>;

/** An abandoned check may have been allowed all the same. Its operation never happened and cost nothing. */
export const neverHappened: Completion = {
  outcome: 'cancelled',
  actualCostMicros: 0,
  detail: 'the answer never arrived',
};

/**
 * The reports that the gateway missed while it was out of reach, so that no operation stays running there and no money
 * stays reserved. The heartbeat delivers them. Beyond a thousand, reports are dropped.
 */
export class OwedReports {
  readonly #owed = new Map<string, Completion>();
  #delivering: Promise<void> | undefined;

  get some(): boolean {
    return this.#owed.size > 0;
  }

  add(opId: string, completion: Completion = neverHappened): void {
    if (this.#owed.size < mostOwed || this.#owed.has(opId)) this.#owed.set(opId, completion);
  }

  /** A new check of the operation goes out. Its answer decides what becomes of the operation. */
  forget(opId: string): void {
    this.#owed.delete(opId);
  }

  /** Delivers everything until the gateway is out of reach again. A refused report is done. */
  async deliver(send: SendReport): Promise<void> {
    this.#delivering ??= this.#deliver(send).finally(() => (this.#delivering = undefined));
    await this.#delivering;
  }

  async #deliver(send: SendReport): Promise<void> {
    for (const [opId, completion] of this.#owed) {
      try {
        await send(opId, completion);
      } catch (error) {
        if (error instanceof ReeveUnavailable) return;
      }
      if (this.#owed.get(opId) === completion) this.#owed.delete(opId);
    }
  }
}
