import { nextHintOfSecret } from '../audit/index.ts';
import type { Range } from '../kernel/index.ts';
import { ClassedText } from './char-classes.ts';
import type { DetectorName } from './detectors.ts';
import { detect, plainly, staysInLine } from './detectors.ts';
import type { PlacedText } from './placed-text.ts';

/**
 * Many texts as the lines of one. A detector that finds nothing across the end of a line looks at all of them at once: a
 * result may have ten thousands of short texts.
 */
export class JoinedTexts {
  readonly #texts: readonly PlacedText[];
  #all: { readonly text: ClassedText; readonly starts: Uint32Array } | undefined;

  constructor(texts: readonly PlacedText[]) {
    this.#texts = texts;
  }

  /** Of all texts together. */
  get length(): number {
    this.#all ??= join(this.#texts);
    return this.#all.text.text.length;
  }

  /** Hands out all that is found, text by text. */
  detect(name: DetectorName, take: (of: PlacedText, range: Range) => void): void {
    this.#all ??= join(this.#texts);
    const { text, starts } = this.#all;
    if (!staysInLine(name)) {
      for (let at = nextHintOfSecret(text.text, 0); at >= 0; ) {
        const nth = lastAtMost(starts, at, 0);
        const of = this.#texts[nth];
        if (of !== undefined) for (const range of detect(name, of.text)) take(of, range);
        at = nextHintOfSecret(text.text, starts[nth + 1] ?? text.text.length);
      }
      return;
    }
    let nth = 0;
    for (const { start, end } of detect(name, text)) {
      nth = lastAtMost(starts, start, nth);
      const of = this.#texts[nth];
      const from = starts[nth] ?? 0;
      if (of !== undefined) take(of, { start: start - from, end: end - from });
    }
  }
}

function join(texts: readonly PlacedText[]): { text: ClassedText; starts: Uint32Array } {
  const starts = new Uint32Array(texts.length);
  const lines: string[] = [];
  let at = 0;
  for (const { text } of texts) {
    starts[lines.length] = at;
    lines.push(text);
    at += text.length + 1;
  }
  return { text: new ClassedText(plainly(lines.join('\n'))), starts };
}

/** So far on, the next one is mostly found step by step. */
const near = 8;

/** The place of the last number that is not larger. It is likely right behind another one. */
function lastAtMost(numbers: Uint32Array, most: number, likely: number): number {
  let [low, high] = [0, numbers.length - 1];
  if ((numbers[likely] ?? 0) <= most) {
    low = likely;
    for (; low < likely + near; low++) if (low === high || (numbers[low + 1] ?? 0) > most) return low;
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}
