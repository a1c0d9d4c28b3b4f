/** More models than this count as all of them. */
const mostModels = 1024;

/**
 * For which models the gateway has said that rules mask prompts, of whomever. While no gateway answers, a call of such a model
 * must not go on as it is: nobody could mask it, and nobody knows whose call it is.
 */
export class KnownMasks {
  readonly #models = new Set<string>();

  /** The gateway has said that the prompt of a call is masked. */
  note(model: string): void {
    if (this.#models.size <= mostModels) this.#models.add(model);
  }

  has(model: string): boolean {
    return this.#models.size > mostModels || this.#models.has(model);
  }
}
