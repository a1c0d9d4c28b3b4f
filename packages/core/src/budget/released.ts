import type { AgentId, Micros, Total } from '../kernel/index.ts';
import { minus, plus } from '../kernel/index.ts';
import type { TierOf } from './tier.ts';
import { tierKey, tiersOf } from './tier.ts';

/** What was released in each tier and is not durable yet. */
export class Released {
  readonly #byTier = new Map<string, Total>();

  of(tier: TierOf): Total {
    return this.#byTier.get(tierKey(tier)) ?? 0;
  }

  /** Notes a release. Call the result when it is durable, or when it was taken back. */
  note(agent: AgentId, amount: Micros): () => void {
    this.#add(agent, amount);
    return () => this.#add(agent, minus(0, amount));
  }

  #add(agent: AgentId, amount: Total): void {
    for (const key of tiersOf(agent).map(tierKey)) {
      const released = plus(this.#byTier.get(key) ?? 0, amount);
      if (released === 0) this.#byTier.delete(key);
      else this.#byTier.set(key, released);
    }
  }
}
