import type { Range } from '../kernel/index.ts';
import type { DetectorName } from './detectors.ts';
import { detect, mayBeIn, plainly, staysInLine } from './detectors.ts';
import type { PlacedText } from './placed-text.ts';

/** What was found in one of the texts. */
interface FoundIn {
  readonly of: PlacedText;
  readonly range: Range;
}

/**
 * Many texts as the lines of one. A detector that finds nothing across the end of a line looks at all of them at once: a
 * result may have ten thousands of short texts.
 */
export class JoinedTexts {
  readonly #texts: readonly PlacedText[];
  #all: { readonly text: string; readonly starts: Uint32Array } | undefined;

  constructor(texts: readonly PlacedText[]) {
    this.#texts = texts;
  }

  /** Of all texts together. */
  get length(): number {
    this.#all ??= join(this.#texts);
    return this.#all.text.length;
  }

  *detect(name: DetectorName): Generator<FoundIn> {
    this.#all ??= join(this.#texts);
    const { text, starts } = this.#all;
    if (!mayBeIn(name, text)) return;
    if (!staysInLine(name)) {
      for (const of of this.#texts) for (const range of detect(name, of.text)) yield { of, range };
      return;
    }
    for (const { start, end } of detect(name, text)) {
      const nth = lastAtMost(starts, start);
      const of = this.#texts[nth];
      const from = starts[nth] ?? 0;
      if (of !== undefined) yield { of, range: { start: start - from, end: end - from } };
    }
  }
}

function join(texts: readonly PlacedText[]): { text: string; starts: Uint32Array } {
  const starts = new Uint32Array(texts.length);
  let at = 0;
  for (const [nth, { text }] of texts.entries()) {
    starts[nth] = at;
    at += text.length + 1;
  }
  return { text: plainly(texts.map(({ text }) => text).join('\n')), starts };
}

/** The place of the last number that is not larger. */
function lastAtMost(numbers: Uint32Array, most: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}
