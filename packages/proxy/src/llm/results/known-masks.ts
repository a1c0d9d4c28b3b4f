/** More models of one agent count as all of them. */
const mostModels = 256;
const mostAgents = 10_000;

/**
 * For which calls the gateway has said that rules mask prompts. While no gateway answers, such a call must not go on as it is:
 * nobody could mask it. What is forgotten in favour of others is that of whoever has not called for the longest time.
 */
export class KnownMasks {
  readonly #byAgent = new Map<string, Set<string> | 'all'>();

  /** The gateway has said whether the prompts of a model are masked for an agent. */
  note(token: string, model: string, isMasked: boolean): void {
    const known = this.#byAgent.get(token);
    if (known === undefined && !isMasked) return;
    const models = known ?? new Set();
    this.#byAgent.delete(token);
    if (models === 'all') this.#byAgent.set(token, models);
    else {
      if (isMasked) models.add(model);
      else models.delete(model);
      if (models.size > 0) this.#byAgent.set(token, models.size > mostModels ? 'all' : models);
    }
    const [oldest] = this.#byAgent.keys();
    if (this.#byAgent.size > mostAgents && oldest !== undefined) this.#byAgent.delete(oldest);
  }

  has(token: string, model: string): boolean {
    const models = this.#byAgent.get(token);
    return models === 'all' || models?.has(model) === true;
  }
}
