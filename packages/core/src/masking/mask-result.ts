import type { ScannedJson } from '../action/index.ts';
import { scanJson, withoutMark } from '../action/index.ts';
import type { Charge, Range } from '../kernel/index.ts';
import { joined, replaceRanges } from '../kernel/index.ts';
import { isCard } from './detect-card.ts';
import type { DetectorName } from './detectors.ts';
import type { Progress } from './field-path.ts';
import { mayName, startOf } from './field-path.ts';
import type { FindMatches, FoundBy, Mask } from './mask.ts';
import { JoinedTexts } from './joined-texts.ts';
import { MaskingVisitor } from './masking-visitor.ts';
import { memberNames } from './member-names.ts';
import type { Place, PlacedText } from './placed-text.ts';
import { jsonNumber, JsonTexts, longestEqual, moved, partOf, plainText, withoutEscapes } from './placed-text.ts';

export interface MaskedResult {
  readonly text: string;
  readonly counts: Readonly<Partial<Record<FoundBy, number>>>;
}

/** It is nested too deeply, or has members that fields may name, and is no JSON. */
export type Unmaskable = 'too deep' | 'not JSON';

export const usualMask = '[masked]';

/** Deeper than what anybody sends, and no deeper than what the gateway judges. */
export const deepestResult = 1000;

interface Found extends Range {
  readonly by: FoundBy;
  readonly replacement: string;
}

/**
 * Replaces what masks find in all texts of a result: in the names and texts of JSON, or in a text that is no JSON. All
 * other bytes stay as they are. Undefined if nothing is found, or why the result cannot be masked.
 */
export function maskResult(
  text: string,
  masks: readonly Mask[],
  charge: Charge = free,
): MaskedResult | undefined | Unmaskable {
  const texts = new MaskedTexts(masks, charge);
  return texts.add(plainText(text), startsOf(masks), 0) ?? replaced(text, texts);
}

/** Which lines of a text are JSON if they look like it: all that are whole. */
export interface WholeLines {
  readonly isFirstWhole: boolean;
  readonly isLastWhole: boolean;
}

/**
 * The same for lines of a text of a result, which is no JSON as a whole. The text counts as one within JSON: in the answer of
 * a model, that is what it is.
 */
export function maskLines(
  text: string,
  masks: readonly Mask[],
  lines: WholeLines,
  charge: Charge = free,
): MaskedResult | undefined | Unmaskable {
  const texts = new MaskedTexts(masks, charge);
  return texts.addLines(plainText(text), startsOf(masks), 1, lines) ?? replaced(text, texts);
}

function replaced(text: string, texts: MaskedTexts): MaskedResult | undefined {
  const found = joined(texts.found());
  if (found.length === 0) return undefined;
  const counts: Partial<Record<FoundBy, number>> = {};
  for (const { by } of found) counts[by] = (counts[by] ?? 0) + 1;
  return { text: replaceRanges(text, found, ({ replacement }) => replacement), counts };
}

function free(): void {}

/** In units of cost, for each character. */
const priceOfScan = 1;
const priceOfDetector = 0.5;

/**
 * What masks find in texts, at its place in the result. However many masks ask for the same, it is looked for once: what
 * the first of them says is put in its place.
 */
function findIn(texts: readonly PlacedText[], masks: readonly Mask[], charge: Charge, found: Found[]): void {
  const lines = new JoinedTexts(texts);
  const done = new Set<DetectorName | FindMatches>();
  for (const mask of masks) {
    for (const name of mask.detect) {
      if (done.has(name)) continue;
      done.add(name);
      charge(lines.length * priceOfDetector);
      lines.detect(name, (of, range) => noteFound(of, range, name, mask, found));
    }
    for (const find of mask.patterns) {
      if (done.has(find)) continue;
      done.add(find);
      for (const of of texts) for (const range of find(of.text, charge)) noteFound(of, range, 'pattern', mask, found);
    }
  }
}

function noteFound(of: PlacedText, range: Range, by: FoundBy, mask: Mask, found: Found[]): void {
  const replacement = of.encode(mask.with);
  const { start, end } = of.place(range);
  found.push({ start, end, by, replacement });
  for (const other of of.again?.(range) ?? []) found.push({ start: other.start, end: other.end, by, replacement });
}

/** A text that is JSON is looked into, and so are the texts in it, this many times. */
const deepestTexts = 3;

/** Everything in a result that masks look at. */
class MaskedTexts {
  readonly #masks: readonly Mask[];
  readonly #charge: Charge;
  readonly #found: Found[] = [];
  readonly #texts: PlacedText[] = [];
  readonly #numbers: PlacedText[] = [];

  constructor(masks: readonly Mask[], charge: Charge) {
    this.#masks = masks;
    this.#charge = charge;
  }

  found(): readonly Found[] {
    // A card may be written as a number. Whatever else is found by its form has more than digits.
    const cards = this.#masks.flatMap((mask) => (mask.detect.includes('card') ? [{ ...mask, ...onlyCards }] : []));
    findIn(this.#numbers, cards, this.#charge, this.#found);
    findIn(this.#texts, this.#masks, this.#charge, this.#found);
    return this.#found;
  }

  /** A text that may be JSON, or have lines of it. */
  add(text: PlacedText, progress: readonly Progress[], depth: number): Unmaskable | undefined {
    const scanned = this.#addJson(text.text, text, progress, depth);
    if (typeof scanned === 'number') return undefined;
    return scanned === 'malformed' ? this.addLines(text, progress, depth, allWhole) : scanned;
  }

  /** Lines that are JSON, and all that stands between them. */
  addLines(
    text: PlacedText,
    progress: readonly Progress[],
    depth: number,
    { isFirstWhole, isLastWhole }: WholeLines,
  ): Unmaskable | undefined {
    const rest: string[] = [];
    const addRest = (start: number, end: number) => {
      if (start >= end) return;
      const between = partOf(text, start, end);
      this.#addText(between);
      rest.push(between.text);
    };
    const { length } = text.text;
    let restStart = 0;
    for (let start = 0, end = 0; start < length; start = end + 1) {
      const next = text.text.indexOf('\n', start);
      end = next < 0 ? length : next;
      const line = partOf(text, start, end);
      const isWhole = (start > 0 || isFirstWhole) && (next >= 0 || isLastWhole);
      const mayBe = isWhole && mayBeJson(line.text);
      const scanned = mayBe ? this.#addJson(line.text, line, progress, depth) : 'malformed';
      if (scanned === 'malformed') continue;
      if (typeof scanned !== 'number') return scanned;
      addRest(restStart, start);
      restStart = end;
    }
    addRest(restStart, length);
    return this.#mayNameMembers(rest.join('\n'), progress) ? 'not JSON' : undefined;
  }

  #mayNameMembers(text: string, progress: readonly Progress[]): boolean {
    const read = withoutEscapes(plainText(text))?.text ?? text;
    return progress.some((each) => {
      if (each.length === 0) return false;
      this.#charge(read.length * priceOfScan);
      return mayName(each, memberNames(read), this.#charge);
    });
  }

  #addText(text: PlacedText): void {
    this.#texts.push(text);
    const read = withoutEscapes(text);
    if (read !== undefined) this.#texts.push(read);
  }

  /** All parts of JSON. Returns why it is none. */
  #addJson(text: string, within: Place, progress: readonly Progress[], depth: number): ScannedJson | Unmaskable {
    // Some senders begin with a mark of the byte order, which is not part of the document.
    const json = withoutMark(text);
    const mark = text.length - json.length;
    const place: Place =
      mark === 0
        ? within
        : { place: (range) => within.place(moved(range, mark)), encode: (written) => within.encode(written) };
    this.#charge(json.length * priceOfScan);
    const found: Found[] = [];
    const texts = new JsonTexts(json, place);
    const numbers: PlacedText[] = [];
    const inner: (() => Unmaskable | undefined)[] = [];
    const isLikely = mayBeOfJson(json);
    const visitor = new MaskingVisitor(json, this.#masks, this.#charge, progress, {
      name: (start, end) => texts.add(start, end),
      text: (start, end, reached) => {
        if (depth >= deepestTexts || !isLikely(start, end)) {
          texts.add(start, end);
          return;
        }
        const placed = texts.read(start, end);
        if (mayHoldJson(placed.text)) inner.push(() => this.add(placed, reached, depth + 1));
        else texts.push(placed);
      },
      number: (start, end, digits) => {
        if (isCard(digits)) numbers.push(jsonNumber(digits, place, start, end));
      },
      masked: (start, end, by, mask) => {
        found.push({ ...place.place({ start, end }), by, replacement: place.encode(JSON.stringify(mask.with)) });
      },
    });
    const scanned = scanJson(json, { depth: deepestResult, values: Number.POSITIVE_INFINITY }, visitor);
    if (typeof scanned !== 'number') return scanned;
    // What both find is replaced as the innermost says.
    for (const look of inner) {
      const unmaskable = look();
      if (unmaskable !== undefined) return unmaskable;
    }
    for (const each of found) this.#found.push(each);
    for (const each of texts.all) {
      if (texts.hasEscapes) this.#addText(each);
      else this.#texts.push(each);
    }
    for (const each of numbers) this.#numbers.push(each);
    return scanned;
  }
}

const allWhole: WholeLines = { isFirstWhole: true, isLastWhole: true };

const onlyCards = { detect: ['card'], patterns: [], fields: [] } as const;

function startsOf(masks: readonly Mask[]): readonly Progress[] {
  return masks.map(({ fields }) => startOf(fields));
}

export function mayBeJson(text: string): boolean {
  return /^[\s\uFEFF{["]/.test(text) && /^[\s\uFEFF]*[{["]/.test(text);
}

/** Finds the next place of a text that has something. Asked about places in their order, it goes through the text once. */
function following(text: string, sought: string): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) {
      const found = text.indexOf(sought, from);
      next = found < 0 ? text.length : found;
    }
    return next;
  };
}

/**
 * A cheap check on a short text of JSON as it is written: whether it may hold JSON. An escape may stand for anything. A
 * long one is read at once.
 */
function mayBeOfJson(json: string): (start: number, end: number) => boolean {
  const [brace, bracket, escape] = [following(json, '{'), following(json, '['), following(json, '\\')];
  return (start, end) =>
    end - start > longestEqual || brace(start) < end || bracket(start) < end || escape(start) < end;
}

/** Whether a line of a text may be JSON, whatever the others are, or the text nearly is. */
function mayHoldJson(text: string): boolean {
  return mayBeJson(text) || text.includes('{') || /\n[^\S\n]*["[]/.test(text);
}
