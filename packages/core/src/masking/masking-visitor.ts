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
  readonly progress: readonly Progress[];
  items: number;
}

/** What is replaced whole, and the depth at which it began. */
interface MaskedWhole {
  readonly depth: number;
  readonly by: FoundBy;
  readonly mask: Mask;
}

/** Goes through JSON by the fields that masks name, and hands out all that is left to look at. */
export class MaskingVisitor implements JsonVisitor {
  readonly #json: string;
  readonly #masks: readonly Mask[];
  readonly #charge: Charge;
  readonly #parts: MaskedParts;
  readonly #open: Container[] = [];
  readonly #hasFields: boolean;
  readonly #hasSecrets: boolean;
  /** What was said of the names of numbers, and of others. Records have the same names again and again. */
  readonly #secretNumbers = new Map<string, boolean>();
  readonly #secretOthers = new Map<string, boolean>();
  /** How many values are around the one at hand, with itself. */
  #depth = 0;
  /** The name of the member whose value comes next, if it is one. */
  #name: string | undefined;
  /** For each mask, how far its fields have matched on the way to the value at hand. */
  #progress: readonly Progress[];
  /** Nothing inside it is looked at. */
  #masked: MaskedWhole | undefined;

  constructor(json: string, masks: readonly Mask[], charge: Charge, progress: readonly Progress[], parts: MaskedParts) {
    this.#json = json;
    this.#masks = masks;
    this.#charge = charge;
    this.#parts = parts;
    this.#progress = progress;
    this.#hasFields = progress.some(({ length }) => length > 0);
    this.#hasSecrets = masks.some(({ detect }) => detect.includes('secret'));
  }

  open(): void {
    if (this.#hasFields) this.#open.push({ progress: this.#progress, items: 0 });
  }

  close(): void {
    if (this.#hasFields) this.#open.pop();
  }

  name(start: number, end: number): void {
    if (this.#masked === undefined) this.#name = this.#parts.name(start, end);
  }

  begin(at: number): void {
    this.#depth++;
    if (this.#masked !== undefined) return;
    const name = this.#name;
    this.#name = undefined;
    if (!this.#hasFields && (!this.#hasSecrets || name === undefined)) return;
    this.#charge(this.#masks.length);
    if (this.#hasFields) this.#advance(name);
    const isSecret = this.#hasSecrets && name !== undefined && this.#isSecret(name, at);
    if (isSecret || this.#hasFields) this.#masked = this.#maskedBy(isSecret);
  }

  end(start: number, end: number): void {
    if (this.#masked === undefined) {
      this.#seen(start, end);
    } else if (this.#masked.depth === this.#depth) {
      const { by, mask } = this.#masked;
      this.#parts.masked(start, end, by, mask);
      this.#masked = undefined;
    }
    this.#depth--;
  }

  #advance(name: string | undefined): void {
    const container = this.#open.at(-1);
    if (container === undefined) return;
    const step = name ?? String(container.items++);
    this.#progress = container.progress.map((progress) =>
      progress.length === 0 ? progress : advance(progress, step, this.#charge),
    );
  }

  #maskedBy(isSecret: boolean): MaskedWhole | undefined {
    for (const [nth, mask] of this.#masks.entries()) {
      const progress = this.#progress[nth] ?? [];
      const isField = progress.length > 0 && isNamed(progress);
      if (isField || (isSecret && mask.detect.includes('secret'))) {
        return { depth: this.#depth, by: isField ? 'field' : 'secret', mask };
      }
    }
    return undefined;
  }

  #seen(start: number, end: number): void {
    const first = this.#json.charCodeAt(start);
    if (first === quote) this.#parts.text(start, end, this.#progress);
    else if (end - start >= shortestNumber && isOfNumber(first)) {
      const digits = wholeDigits(this.#json, start, end);
      if (digits !== '') this.#parts.number(start, end, digits);
    }
  }

  /** Whether the name of a member says that its value is secret. */
  #isSecret(name: string, at: number): boolean {
    const first = this.#json.charCodeAt(at);
    if (first === smallN) return false;
    const isNumber = isOfNumber(first);
    const names = isNumber ? this.#secretNumbers : this.#secretOthers;
    const known = names.get(name);
    if (known !== undefined) return known;
    const is = namesSecret(name, isNumber ? 0 : '');
    names.set(name, is);
    return is;
  }
}

const [quote, minus, point, zero, nine, smallN] = [0x22, 0x2d, 0x2e, 0x30, 0x39, 0x6e];

function isOfNumber(first: number): boolean {
  return first === minus || isDigit(first);
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

const [shortestNumber, longestNumber] = [13, 19];

/** The digits of a number before its point, however it is written. None if they are fewer or more than a card has. */
function wholeDigits(json: string, start: number, end: number): string {
  const first = json.charCodeAt(start) === minus ? start + 1 : start;
  let at = first;
  while (at < end && isDigit(json.charCodeAt(at))) at++;
  let rest = json.charCodeAt(at) === point ? at + 1 : at;
  while (rest < end && isDigit(json.charCodeAt(rest))) rest++;
  if (rest < end) return digitsOfPower(json.slice(start, end));
  return at - first < shortestNumber || at - first > longestNumber ? '' : json.slice(first, at);
}

/** The same of a number that is written with a power of ten. */
function digitsOfPower(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const before = whole.length + Number(exponent);
  if (before < shortestNumber || before > number.length + longestNumber) return '';
  const digits = (whole + fraction).slice(0, before).padEnd(before, '0').replace(/^0+/, '');
  return digits.length < shortestNumber || digits.length > longestNumber ? '' : digits;
}
