const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
/** No name that matters is longer, and no report of usage. */
const longestName = 64;
const longestUsage = 65_536;

/**
 * Reads an answer while it passes by, however large it is: how many bytes of text the model has put out, and what the
 * outermost object says as its `usage`.
 */
export class AnswerScan {
  /** The bytes in texts of the members that hold what a model puts out. */
  textBytes = 0;
  /** The last `usage`; undefined if there is none. */
  usage: unknown;
  readonly #texts: ReadonlySet<string>;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isValue = false;
  #counts = false;
  #name: string | undefined;
  /** The string that was read last, unless it is a value. */
  #word: Buffer[] = [];
  #wordBytes = 0;
  #held: Buffer[] | undefined;
  #heldBytes = 0;

  constructor(texts: readonly string[]) {
    this.#texts = new Set(texts);
  }

  /** Takes in more of a JSON text. Of what is around it, such as the lines of events, only quotes would matter. */
  push(chunk: Buffer): void {
    /** Where the part begins that belongs to the usage. */
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (this.#isInString) {
        at = this.#readString(chunk, at);
        continue;
      }
      switch (chunk[at] ?? 0) {
        case quote:
          this.#isInString = true;
          this.#counts = this.#isValue && this.#name !== undefined && this.#texts.has(this.#name);
          this.#word = [];
          this.#wordBytes = 0;
          break;
        case colon:
          this.#name = this.#wordBytes > longestName ? undefined : Buffer.concat(this.#word).toString('latin1');
          this.#isValue = true;
          break;
        case openBrace:
        case openBracket:
          if (this.#depth === 1 && this.#isValue && this.#name === 'usage' && chunk[at] === openBrace) {
            this.#held = [];
            this.#heldBytes = 0;
            from = at;
          }
          this.#depth++;
          this.#isValue = false;
          break;
        case closeBrace:
        case closeBracket:
          this.#depth--;
          this.#isValue = false;
          if (this.#depth === 1 && this.#held !== undefined) this.#keep(chunk.subarray(from, at + 1), true);
          break;
        case comma:
          this.#isValue = false;
          break;
        default:
      }
    }
    if (this.#held !== undefined) this.#keep(chunk.subarray(from), false);
  }

  /** Ends a text. The next one has nothing to do with it. */
  reset(): void {
    this.#depth = 0;
    this.#isInString = this.#isEscaped = this.#isValue = false;
    this.#held = undefined;
  }

  /** Returns the place of the last byte that belongs to the string. */
  #readString(chunk: Buffer, start: number): number {
    let at = start;
    for (; at < chunk.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (chunk[at] === backslash) this.#isEscaped = true;
      else if (chunk[at] === quote) break;
    }
    const length = at - start;
    if (this.#counts) this.textBytes += length;
    else if (!this.#isValue) {
      this.#wordBytes += length;
      if (this.#wordBytes <= longestName) this.#word.push(chunk.subarray(start, at));
    }
    if (at < chunk.length) this.#isInString = false;
    return at;
  }

  #keep(bytes: Buffer, isAll: boolean): void {
    this.#held?.push(bytes);
    this.#heldBytes += bytes.length;
    const fits = this.#heldBytes <= longestUsage;
    if (isAll && fits) this.usage = jsonOf(Buffer.concat(this.#held ?? []).toString('utf8'));
    if (isAll || !fits) this.#held = undefined;
  }
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
