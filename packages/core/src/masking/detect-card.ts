import type { Range } from '../kernel/index.ts';
import type { ClassedText } from './char-classes.ts';
import { classes } from './char-classes.ts';

const [shortest, longest] = [13, 19];
const { digit, letter, blank, dash, point } = classes;
const zero = 0x30;

/** Card numbers: 13 to 19 digits of a known issuer that pass the Luhn check, with a blank or a dash between groups. */
export function detectCards(text: ClassedText): readonly Range[] {
  const found: Range[] = [];
  text.eachRun(digit | blank | dash, shortest, (first, last) => {
    for (let start = first; last - start >= shortest; start++) {
      if (!text.is(digit, start) || isWithin(text, start)) continue;
      const end = endOf(text, start);
      if (end === undefined) continue;
      found.push({ start, end });
      start = end - 1;
    }
  });
  return found;
}

/** The digits of the number at hand. */
const number = new Uint8Array(longest);

/** Where the longest card number that begins here ends. Other numbers may follow it. */
function endOf(text: ClassedText, start: number): number | undefined {
  let count = 0;
  let separator = 0;
  let end: number | undefined;
  for (let at = start; ; at++) {
    if (text.is(digit, at)) {
      if (count === longest) break;
      number[count++] = text.text.charCodeAt(at) - zero;
      if (count === 4 && !isIssued(number)) break;
      if (count >= shortest && !text.is(digit | letter, at + 1) && passesLuhn(number, count)) end = at + 1;
    } else {
      const between = text.is(blank, at) ? blank : dash;
      if (!text.is(between, at) || !text.is(digit, at + 1) || (separator !== 0 && separator !== between)) break;
      separator = between;
    }
  }
  return end;
}

/** Whether a number goes on before this place: it is part of a word, or of a fraction. `No.4111…` is neither. */
function isWithin(text: ClassedText, start: number): boolean {
  return text.is(digit | letter, start - 1) || (text.is(point, start - 1) && text.is(digit, start - 2));
}

/** Whether digits alone are the number of a card. */
export function isCard(text: string): boolean {
  const { length } = text;
  if (length < shortest || length > longest) return false;
  for (let nth = 0; nth < length; nth++) number[nth] = text.charCodeAt(nth) - zero;
  return isIssued(number) && passesLuhn(number, length);
}

/** Whether the first digits are those of the cards that people carry. */
function isIssued(of: Uint8Array): boolean {
  const first = of[0] ?? 0;
  const four = first * 1000 + (of[1] ?? 0) * 100 + (of[2] ?? 0) * 10 + (of[3] ?? 0);
  return (first >= 3 && first <= 6) || (four >= 2221 && four <= 2720);
}

function passesLuhn(of: Uint8Array, count: number): boolean {
  let sum = 0;
  for (let at = count - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = of[at] ?? 0;
    const doubled = isDoubled ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
