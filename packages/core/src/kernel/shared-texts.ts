/** Texts beyond this many are too various to share. The next ones begin anew. */
const mostKnown = 4096;

/** Makes one text of equal ones. A start reads the same few rules, reasons and resources hundreds of thousands of times. */
export class SharedTexts {
  readonly #known = new Map<string, string>();

  of(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size === mostKnown) this.#known.clear();
    this.#known.set(text, text);
    return text;
  }
}
