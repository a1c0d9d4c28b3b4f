const most = 1000;
const longest = 256;

/** The last positions of event streams that a client has got here. Those of other processes are not among them. */
export class StreamPositions {
  readonly #known = new Set<string>();

  add(position: string): void {
    if (position.length > longest) return;
    this.#known.delete(position);
    this.#known.add(position);
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size > most) this.#known.delete(oldest);
  }

  has(position: string): boolean {
    return this.#known.has(position);
  }
}
