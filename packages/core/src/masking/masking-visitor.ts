import type { JsonVisitor } from '../action/index.ts';
import { namesSecret } from '../audit/index.ts';
import type { Charge } from '../kernel/index.ts';
import type { Progress } from './field-path.ts';
import { advance, isNamed } from './field-path.ts';
import type { FoundBy, Mask } from './mask.ts';

/** What is to be looked at in JSON, with its place there. */
export interface MaskedParts {
  /** Returns what the name says. */
  name(start: number, end: number): string;
  /** A text, and how far the fields of each mask have matched on the way to it. */
  text(start: number, end: number, progress: readonly Progress[]): void;
  /** A number whose digits before the point are as many as those of a card. */
  number(start: number, end: number, digits: string): void;
  /** A value that is replaced whole. */
  masked(start: number, end: number, by: FoundBy, mask: Mask): void;
}

/** A list or an object on the way to a value. */
interface Container {
  readonly isObject: boolean;
  readonly progress: readonly Progress[];
  items: number;
}

/** Goes through JSON by the fields that masks name, and hands out all that is left to look at. */
export class MaskingVisitor implements JsonVisitor {
  readonly #json: string;
  readonly #masks: readonly Mask[];
  readonly #charge: Charge;
  readonly #parts: MaskedParts;
  readonly #open: Container[] = [];
  readonly #values: number[] = [];
  readonly #hasFields: boolean;
  readonly #hasSecrets: boolean;
  /** What was said of names, by the kind of their values. */
  readonly #secretNames = new Map<string | number | null, Map<string, boolean>>();
  /** The name of the member whose value comes next. */
  #name = '';
  /** For each mask, how far its fields have matched on the way to the value at hand. */
  #progress: readonly Progress[];
  /** What is replaced whole, and the depth at which it began. Nothing inside it is looked at. */
  #masked: { readonly depth: number; readonly by: FoundBy; readonly mask: Mask } | undefined;

  constructor(json: string, masks: readonly Mask[], charge: Charge, progress: readonly Progress[], parts: MaskedParts) {
    this.#json = json;
    this.#masks = masks;
    this.#charge = charge;
    this.#parts = parts;
    this.#progress = progress;
    this.#hasFields = progress.some(({ length }) => length > 0);
    this.#hasSecrets = masks.some(({ detect }) => detect.includes('secret'));
  }

  open(isObject: boolean): void {
    this.#open.push({ isObject, progress: this.#progress, items: 0 });
  }

  close(): void {
    this.#open.pop();
  }

  name(start: number, end: number): void {
    if (this.#masked !== undefined) return;
    this.#name = this.#parts.name(start, end);
  }

  begin(at: number): void {
    this.#values.push(at);
    if (this.#masked !== undefined) return;
    const container = this.#open.at(-1);
    if (!this.#hasFields && !(this.#hasSecrets && container?.isObject === true)) return;
    this.#charge(this.#masks.length);
    if (container !== undefined && this.#hasFields) {
      const name = container.isObject ? this.#name : String(container.items++);
      this.#progress = container.progress.map((progress) =>
        progress.length === 0 ? progress : advance(progress, name, this.#charge),
      );
    }
    const depth = this.#values.length;
    for (const [nth, mask] of this.#masks.entries()) {
      const by = this.#namedBy(mask, this.#progress[nth] ?? [], container?.isObject === true, at);
      if (by !== undefined) this.#masked ??= { depth, by, mask };
    }
  }

  end(at: number): void {
    const start = this.#values.pop() ?? 0;
    if (this.#masked === undefined) {
      this.#seen(start, at);
    } else if (this.#masked.depth === this.#values.length + 1) {
      const { by, mask } = this.#masked;
      this.#parts.masked(start, at, by, mask);
      this.#masked = undefined;
    }
  }

  #seen(start: number, end: number): void {
    const first = this.#json.charAt(start);
    if (first === '"') {
      this.#parts.text(start, end, this.#progress);
    } else if (first === '-' || (first >= '0' && first <= '9')) {
      const digits = end - start < shortestNumber ? '' : wholeDigits(this.#json.slice(start, end));
      if (digits !== '') this.#parts.number(start, end, digits);
    }
  }

  #namedBy({ detect: names }: Mask, progress: Progress, isMember: boolean, at: number): FoundBy | undefined {
    if (progress.length > 0 && isNamed(progress)) return 'field';
    return isMember && names.includes('secret') && this.#isSecret(at) ? 'secret' : undefined;
  }

  /** Whether the name of the member at hand says that its value is secret. Records have the same names again and again. */
  #isSecret(at: number): boolean {
    const kind = kindAt(this.#json, at);
    const known = this.#secretNames.get(kind) ?? new Map<string, boolean>();
    this.#secretNames.set(kind, known);
    const is = known.get(this.#name) ?? namesSecret(this.#name, kind);
    known.set(this.#name, is);
    return is;
  }
}

const [shortestNumber, longestNumber] = [13, 19];

/** The digits of a number before its point, however it is written. None if they are fewer or more than a card has. */
function wholeDigits(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const point = whole.length + Number(exponent);
  if (point < shortestNumber || point > number.length + longestNumber) return '';
  const digits = (whole + fraction).slice(0, point).padEnd(point, '0').replace(/^0+/, '');
  return digits.length < shortestNumber || digits.length > longestNumber ? '' : digits;
}

/** A value of the same kind as the one that begins here. */
function kindAt(json: string, at: number): string | number | null {
  const first = json.charAt(at);
  if (first === 'n') return null;
  return first === '-' || (first >= '0' && first <= '9') ? 0 : '';
}
