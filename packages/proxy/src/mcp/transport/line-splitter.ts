const newline = 0x0a;

/** Splits bytes into lines. A line that is too long is reported in place of its text, and skipped. */
export class LineSplitter {
  readonly #longest: number;
  readonly #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that these bytes complete. Undefined stands for a line that was too long. */
  push(chunk: Buffer): (string | undefined)[] {
    const lines: (string | undefined)[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#add(chunk.subarray(from, at), lines);
      if (!this.#skipping) lines.push(this.#take());
      this.#skipping = false;
      from = at + 1;
    }
    this.#add(chunk.subarray(from), lines);
    return lines;
  }

  #add(part: Buffer, lines: (string | undefined)[]): void {
    if (this.#skipping || part.length === 0) return;
    this.#size += part.length;
    if (this.#size <= this.#longest) {
      this.#parts.push(part);
      return;
    }
    this.#take();
    this.#skipping = true;
    lines.push(undefined);
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString();
    this.#parts.length = 0;
    this.#size = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
