/**
 * Readers of JSON disagree on numbers that a double does not hold: one rounds `12345678901234567`, another keeps it. So what
 * was judged need not be what is done. A number survives if the shortest text of its double denotes the same number.
 */

const [quote, backslash, minus, zero, nine] = [0x22, 0x5c, 0x2d, 0x30, 0x39];

/** No other text has a number of more than 15 digits, or one with an exponent. */
const mayBeInexact = /[\d.]{16}|\d[eE][+-]?\d/;
const written = /-?\d[\d.eE+-]*/y;
const parts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const longestShown = 40;

/** Whether a number of a JSON text survives. */
export function isExactNumber(text: string): boolean {
  return decimalOf(text) === decimalOf(String(Number(text)));
}

/** All numbers of a JSON text that do not survive, as they are written. */
export function inexactNumbersIn(json: string): ReadonlySet<string> {
  if (!mayBeInexact.test(json)) return none;
  const found = new Set<string>();
  for (const number of numbersIn(json)) if (!isExactNumber(number)) found.add(number);
  return found;
}

const none: ReadonlySet<string> = new Set();

/** Why a JSON text is not sent on. Undefined if all its numbers survive. */
export function numberFaultIn(json: string): string | undefined {
  if (!mayBeInexact.test(json)) return undefined;
  for (const number of numbersIn(json)) if (!isExactNumber(number)) return numberFault(number);
  return undefined;
}

export function numberFault(number: string): string {
  const shown = number.length > longestShown ? `${number.slice(0, longestShown)}…` : number;
  return `the number ${shown} is not the same to every reader, so nobody can judge it: send it as a text`;
}

/** For a text that is not JSON, the result means nothing. */
function* numbersIn(json: string): Generator<string> {
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === quote) at = endOfString(json, at);
    else if (char === minus || (char >= zero && char <= nine)) {
      written.lastIndex = at;
      const [number = '-'] = written.exec(json) ?? [];
      at += number.length - 1;
      yield number;
    }
  }
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json.charCodeAt(before - 1) === backslash) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return json.length;
}

/** The digits that count, with the place of the last one. The same for all texts of one number; undefined for no number. */
function decimalOf(text: string): string | undefined {
  const [whole, units, fraction = '', exponent = '0'] = parts.exec(text) ?? [];
  if (whole === undefined || units === undefined) return undefined;
  const digits = units + fraction;
  let from = 0;
  while (digits.charCodeAt(from) === zero) from++;
  if (from === digits.length) return '0';
  let to = digits.length;
  while (digits.charCodeAt(to - 1) === zero) to--;
  const place = Number(exponent) - fraction.length + (digits.length - to);
  return `${text.startsWith('-') ? '-' : ''}${digits.slice(from, to)}e${place}`;
}
