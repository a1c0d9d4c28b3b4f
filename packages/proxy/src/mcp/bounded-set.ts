/** The last of what was added. The oldest goes first. */
export class BoundedSet {
  readonly #most: number;
  readonly #kept = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  add(text: string): void {
    this.#kept.delete(text);
    this.#kept.add(text);
    const [oldest] = this.#kept;
    if (oldest !== undefined && this.#kept.size > this.#most) this.#kept.delete(oldest);
  }

  delete(text: string): void {
    this.#kept.delete(text);
  }

  has(text: string): boolean {
    return this.#kept.has(text);
  }
}
