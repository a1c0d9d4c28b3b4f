/** A place in a pattern where one character of the text is read. */
interface Position {
  readonly index: number;
  /** Which of the sample characters it reads. */
  readonly reads: bigint;
}

/** A position, and which characters may come right before it. At the start of the text there is none. */
interface Entry {
  readonly position: Position;
  readonly after: bigint;
}

/** A part of a pattern: how it can begin and end, and after which characters it can be empty. */
export interface Fragment {
  readonly first: readonly Entry[];
  readonly last: readonly Position[];
  readonly emptyAfter: bigint;
}

type Triple = readonly [Position, Position, Position];

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const others = ['\u0085', '\u00a0', 'é', 'ſ', 'K', '\u200b', '\u2028', '中', '\ufeff', '😀'];

const all = -1n;
export const nothing: Fragment = { first: [], last: [], emptyAfter: all };
const mostSets = 2000;

/**
 * The automaton of a pattern, over a sample of characters. If one text leads from a state back to itself, on to another
 * state, and from that one back to itself, then a backtracking engine tries every split of that text between the two:
 * the time grows at least by the square of the length. It does not if the pattern cannot fail any more from there.
 */
export class Automaton {
  readonly everything: bigint;
  /** What stands for the end of the text. */
  readonly endOfText: bigint;
  readonly #samples: readonly string[];
  readonly #positions: Position[] = [];
  readonly #next: Set<Position>[] = [];
  readonly #ends = new Set<Position>();
  #isDoubled = false;

  constructor(source: string, isUnicode: boolean) {
    const samples = [...new Set([...ascii, ...Array.from(source), ...others])];
    this.#samples = isUnicode ? samples : samples.filter(({ length }) => length === 1);
    this.endOfText = 1n << BigInt(this.#samples.length);
    this.everything = this.endOfText - 1n;
  }

  reading(reads: (sample: string) => boolean): bigint {
    return this.#samples.reduce((sum, sample, at) => (reads(sample) ? sum | (1n << BigInt(at)) : sum), 0n);
  }

  one(reads: bigint): Fragment {
    const position = this.#position(reads);
    return { first: [{ position, after: all }], last: [position], emptyAfter: 0n };
  }

  joined(left: Fragment, right: Fragment): Fragment {
    this.follow(left.last, right.first);
    const through = right.first.map(({ position, after }) => ({ position, after: after & left.emptyAfter }));
    const isSkipped = left.emptyAfter !== 0n || left.last.length === 0;
    return {
      first: isSkipped ? [...left.first, ...through] : left.first,
      last: right.emptyAfter === 0n && right.last.length > 0 ? right.last : [...left.last, ...right.last],
      emptyAfter: left.emptyAfter & right.emptyAfter,
    };
  }

  follow(from: readonly Position[], to: readonly Entry[]): void {
    for (const one of from) {
      for (const { position, after } of to) {
        if ((one.reads & after) === 0n) continue;
        const next = this.#next[one.index];
        // Two ways from one state to another, around a loop, double with every turn.
        if (next?.has(position) === true && this.#reaches(position, one)) this.#isDoubled = true;
        next?.add(position);
      }
    }
  }

  end(whole: Fragment): void {
    for (const position of whole.last) this.#ends.add(position);
  }

  /** Any text before the pattern. What looks at the character before it sees one of these. */
  search(whole: Fragment): void {
    let kinds = [this.everything];
    for (const { after } of whole.first) {
      kinds = kinds.flatMap((kind) => [kind & after, kind & ~after].filter((part) => part !== 0n));
    }
    const before = kinds.map((kind) => this.#position(kind));
    this.follow(
      before,
      before.map((position) => ({ position, after: all })),
    );
    this.follow(before, whole.first);
  }

  ambiguity(): string | undefined {
    if (this.#isDoubled) return 'a loop in it can be passed in two ways';
    const loops = this.#positions.filter((one) => this.#reaches(one, one));
    for (const to of loops) {
      if (this.#alwaysEnds(to)) continue;
      const from = loops.find((one) => one !== to && this.#reaches(one, to) && this.#shareText(one, to));
      if (from !== undefined) return `${this.#shown(from)} and ${this.#shown(to)} take the same text`;
    }
    return undefined;
  }

  #shown({ reads }: Position): string {
    const read = this.#samples.filter((_, at) => ((reads >> BigInt(at)) & 1n) === 1n);
    return read.length > 100 ? 'a loop over any text' : `a loop over ${JSON.stringify(read.join('').slice(0, 20))}`;
  }

  #position(reads: bigint): Position {
    const position = { index: this.#positions.length, reads };
    this.#positions.push(position);
    this.#next.push(new Set());
    return position;
  }

  #after({ index }: Position): ReadonlySet<Position> {
    return this.#next[index] ?? new Set();
  }

  #reaches(from: Position, to: Position): boolean {
    const seen = new Set<Position>();
    const open = [from];
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      for (const other of this.#after(one)) {
        if (other === to) return true;
        if (!seen.has(other)) open.push(other);
        seen.add(other);
      }
    }
    return false;
  }

  /** Whether the pattern matches from here whatever follows, so that there is nothing to go back for. */
  #alwaysEnds(from: Position): boolean {
    const seen = new Set<string>();
    // What leads here may lead elsewhere by the same character.
    const before = this.#positions.filter((one) => this.#after(one).has(from));
    const open = before.flatMap((one) => this.#readers([...this.#after(one)], from.reads));
    for (let set = open.pop(); set !== undefined; set = open.pop()) {
      if (set.some((position) => this.#ends.has(position))) continue;
      const key = set.map(({ index }) => index).join();
      if (seen.has(key)) continue;
      if (seen.add(key).size > mostSets) return false;
      const next = [...new Set(set.flatMap((position) => [...this.#after(position)]))];
      if (!this.#endsWithText(next)) return false;
      const readers = this.#readers(next, this.everything);
      if (readers.some(({ length }) => length === 0)) return false;
      open.push(...readers);
    }
    return true;
  }

  /** The end of the text can be seen any number of times. */
  #endsWithText(next: readonly Position[]): boolean {
    const seen = new Set(next.filter(({ reads }) => (reads & this.endOfText) !== 0n));
    for (const one of seen) {
      if (this.#ends.has(one)) return true;
      for (const other of this.#after(one)) if ((other.reads & this.endOfText) !== 0n) seen.add(other);
    }
    return false;
  }

  /** For each of these characters, the positions that read it. */
  #readers(among: readonly Position[], characters: bigint): Position[][] {
    const readers: Position[][] = [];
    for (let bit = this.endOfText >> 1n; bit !== 0n; bit >>= 1n) {
      if ((characters & bit) !== 0n) readers.push(among.filter(({ reads }) => (reads & bit) !== 0n));
    }
    return readers;
  }

  #shareText(from: Position, to: Position): boolean {
    const size = this.#positions.length;
    const keyOf = ([a, b, c]: Triple) => (a.index * size + b.index) * size + c.index;
    const start: Triple = [from, from, to];
    const seen = new Set([keyOf(start)]);
    const open = [start];
    for (let triple = open.pop(); triple !== undefined; triple = open.pop()) {
      for (const next of this.#steps(triple)) {
        if (next[0] === from && next[1] === to && next[2] === to) return true;
        if (!seen.has(keyOf(next))) open.push(next);
        seen.add(keyOf(next));
      }
    }
    return false;
  }

  *#steps([left, middle, right]: Triple): Iterable<Triple> {
    for (const a of this.#after(left)) {
      for (const b of this.#after(middle)) {
        if ((a.reads & b.reads) === 0n) continue;
        for (const c of this.#after(right)) if ((a.reads & b.reads & c.reads) !== 0n) yield [a, b, c];
      }
    }
  }
}
