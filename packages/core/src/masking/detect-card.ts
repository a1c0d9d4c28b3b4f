import type { Range } from '../kernel/index.ts';

const [shortest, longest] = [13, 19];
/** As many digits, blanks and dashes as a card number has at least. */
const candidate = /(?<![\d -])[\d -]{13,}/g;

/** The first digits of the cards that people carry. */
const issuers = /^(?:4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[0-9]|6(?:011|4[4-9]|5|2)|50|5[6-9]|6[0-9])/;

/** Card numbers: 13 to 19 digits of a known issuer that pass the Luhn check, with a blank or a dash between groups. */
export function* detectCards(text: string): Generator<Range> {
  for (const { 0: run, index } of text.matchAll(candidate)) {
    let after = 0;
    for (const group of run.matchAll(/\d+/g)) {
      const start = index + group.index;
      if (start < after || isWithin(text, start)) continue;
      const end = endOf(text, start);
      if (end === undefined) continue;
      after = end;
      yield { start, end };
    }
  }
}

/** Where the longest card number that begins here ends. Other numbers may follow it. */
function endOf(text: string, start: number): number | undefined {
  let number = '';
  let separator = '';
  let end: number | undefined;
  for (let at = start; number.length <= longest; at++) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (isDigit(character)) {
      number += character;
      if (!/[\da-z]/i.test(next) && isCard(number)) end = at + 1;
    } else {
      const isBetween = (character === ' ' || character === '-') && isDigit(next);
      if (!isBetween || (separator !== '' && separator !== character)) break;
      separator = character;
    }
  }
  return end;
}

/** Whether a number goes on before this place: it is part of a word, or of a fraction. `No.4111…` is neither. */
function isWithin(text: string, start: number): boolean {
  return /(?:[\da-z]|\d\.)$/i.test(text.slice(Math.max(0, start - 2), start));
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

/** Whether digits alone are the number of a card. */
export function isCard(number: string): boolean {
  return number.length >= shortest && number.length <= longest && issuers.test(number) && passesLuhn(number);
}

function passesLuhn(number: string): boolean {
  let sum = 0;
  for (let nth = 0; nth < number.length; nth++) {
    const digit = Number(number.charAt(number.length - 1 - nth));
    const doubled = nth % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
