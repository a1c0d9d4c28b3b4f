import type { JsonVisitor } from '../action/index.ts';
import { scanJson } from '../action/index.ts';
import { namesSecret } from '../audit/index.ts';
import type { Range } from '../kernel/index.ts';
import { joined, replaceRanges } from '../kernel/index.ts';
import type { DetectorName } from './detectors.ts';
import type { FieldPath, Progress } from './field-path.ts';
import { advance, isNamed, startOf } from './field-path.ts';
import { JoinedTexts } from './joined-texts.ts';
import type { PlacedText } from './placed-text.ts';
import { jsonText, plainText } from './placed-text.ts';

/** Called before work whose amount a result decides. It throws if that is too much. */
export type Charge = (units: number) => void;

/** Finds what a pattern matches in a text. */
export type FindMatches = (text: string, charge: Charge) => Iterable<Range>;

/** What one rule masks. */
export interface Mask {
  readonly detect: readonly DetectorName[];
  /** The same pattern of several masks is the same function. */
  readonly patterns: readonly FindMatches[];
  readonly fields: readonly FieldPath[];
  readonly with: string;
}

/** What found something: a detector, a pattern or a field. */
export type FoundBy = DetectorName | 'pattern' | 'field';

export interface MaskedResult {
  readonly text: string;
  readonly counts: Readonly<Partial<Record<FoundBy, number>>>;
}

export const usualMask = '[masked]';

/** Deeper than what anybody sends, and no deeper than what the gateway judges. */
export const deepestResult = 1000;

interface Found extends Range {
  readonly by: FoundBy;
  readonly replacement: string;
}

/**
 * Replaces what masks find in all texts of a result: in the names and texts of JSON, or in a text that is no JSON. All
 * other bytes stay as they are. Undefined if nothing is found, `'too deep'` if the result cannot be judged.
 */
export function maskResult(
  text: string,
  masks: readonly Mask[],
  charge: Charge = free,
): MaskedResult | undefined | 'too deep' {
  charge(text.length * priceOfScan);
  const visitor = new MaskingVisitor(text, masks, charge);
  const scanned = scanJson(text, { depth: deepestResult, values: Number.POSITIVE_INFINITY }, visitor);
  if (scanned === 'too deep') return scanned;
  const found = joined(scanned === 'malformed' ? [...inTexts([plainText(text)], masks, charge)] : visitor.found());
  if (found.length === 0) return undefined;
  const counts: Partial<Record<FoundBy, number>> = {};
  for (const { by } of found) counts[by] = (counts[by] ?? 0) + 1;
  return { text: replaceRanges(text, found, ({ replacement }) => replacement), counts };
}

function free(): void {}

/** In units of cost, for each character. */
const priceOfScan = 1;
const priceOfDetector = 0.5;
/** For each path that a value is held against. */
const priceOfField = 5;

/**
 * What masks find in texts, at its place in the result. However many masks ask for the same, it is looked for once: what
 * the first of them says is put in its place.
 */
function* inTexts(texts: readonly PlacedText[], masks: readonly Mask[], charge: Charge): Generator<Found> {
  const lines = new JoinedTexts(texts);
  const done = new Set<DetectorName | FindMatches>();
  for (const mask of masks) {
    for (const name of mask.detect) {
      if (done.has(name)) continue;
      done.add(name);
      charge(lines.length * priceOfDetector);
      for (const { of, range } of lines.detect(name)) yield foundIn(of, range, name, mask);
    }
    for (const find of mask.patterns) {
      if (done.has(find)) continue;
      done.add(find);
      for (const of of texts) for (const range of find(of.text, charge)) yield foundIn(of, range, 'pattern', mask);
    }
  }
}

function foundIn(of: PlacedText, range: Range, by: FoundBy, mask: Mask): Found {
  return { ...of.place(range), by, replacement: of.isJson ? JSON.stringify(mask.with).slice(1, -1) : mask.with };
}

/** A list or an object on the way to a value. */
interface Container {
  readonly isObject: boolean;
  readonly progress: readonly Progress[];
  items: number;
}

class MaskingVisitor implements JsonVisitor {
  readonly #found: Found[] = [];
  readonly #texts: PlacedText[] = [];
  readonly #json: string;
  readonly #masks: readonly Mask[];
  readonly #charge: Charge;
  readonly #open: Container[] = [];
  readonly #values: number[] = [];
  readonly #hasFields: boolean;
  readonly #hasSecrets: boolean;
  /** The name of the member whose value comes next. */
  #name = '';
  /** For each mask, how far its fields have matched on the way to the value at hand. */
  #progress: readonly Progress[];
  /** What is replaced whole, and the depth at which it began. Nothing inside it is looked at. */
  #masked: { readonly depth: number; readonly by: FoundBy; readonly replacement: string } | undefined;

  constructor(json: string, masks: readonly Mask[], charge: Charge) {
    this.#json = json;
    this.#charge = charge;
    this.#masks = masks;
    this.#progress = masks.map(({ fields }) => startOf(fields));
    this.#hasFields = masks.some(({ fields }) => fields.length > 0);
    this.#hasSecrets = masks.some(({ detect }) => detect.includes('secret'));
  }

  /** What was found, once all parts were seen. */
  found(): Found[] {
    return [...this.#found, ...inTexts(this.#texts, this.#masks, this.#charge)];
  }

  open(isObject: boolean): void {
    this.#open.push({ isObject, progress: this.#progress, items: 0 });
  }

  close(): void {
    this.#open.pop();
  }

  name(start: number, end: number): void {
    if (this.#masked !== undefined) return;
    const name = jsonText(this.#json, start, end);
    this.#name = name.text;
    this.#texts.push(name);
  }

  begin(at: number): void {
    this.#values.push(at);
    if (this.#masked !== undefined) return;
    const container = this.#open.at(-1);
    if (!this.#hasFields && !(this.#hasSecrets && container?.isObject === true)) return;
    this.#charge(this.#masks.length);
    if (container !== undefined && this.#hasFields) {
      const name = container.isObject ? this.#name : String(container.items++);
      this.#progress = container.progress.map((progress) => {
        if (progress.length === 0) return progress;
        this.#charge(progress.length * priceOfField);
        return advance(progress, name);
      });
    }
    const depth = this.#values.length;
    for (const [nth, mask] of this.#masks.entries()) {
      const by = this.#namedBy(mask, this.#progress[nth] ?? [], container?.isObject === true, at);
      if (by !== undefined) this.#masked ??= { depth, by, replacement: JSON.stringify(mask.with) };
    }
  }

  end(at: number): void {
    const start = this.#values.pop() ?? 0;
    if (this.#masked === undefined) {
      if (this.#json.charAt(start) === '"') this.#texts.push(jsonText(this.#json, start, at));
    } else if (this.#masked.depth === this.#values.length + 1) {
      const { by, replacement } = this.#masked;
      this.#found.push({ start, end: at, by, replacement });
      this.#masked = undefined;
    }
  }

  #namedBy({ detect: names }: Mask, progress: Progress, isMember: boolean, at: number): FoundBy | undefined {
    if (progress.length > 0 && isNamed(progress)) return 'field';
    return isMember && names.includes('secret') && namesSecret(this.#name, kindAt(this.#json, at))
      ? 'secret'
      : undefined;
  }
}

/** A value of the same kind as the one that begins here. */
function kindAt(json: string, at: number): string | number | null {
  const first = json.charAt(at);
  if (first === 'n') return null;
  return first === '-' || (first >= '0' && first <= '9') ? 0 : '';
}
