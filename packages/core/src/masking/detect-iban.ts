import type { Range } from '../kernel/index.ts';
import type { ClassedText } from './char-classes.ts';
import { classes } from './char-classes.ts';

/** How long the account numbers of a country are, by the registry of ISO 13616. */
const lengths: Readonly<Record<string, number>> = {
  ...{ AD: 24, AE: 23, AL: 28, AT: 20, AZ: 28, BA: 20, BE: 16, BG: 22, BH: 22, BI: 27, BR: 29, BY: 28, CH: 21, CR: 22 },
  ...{ CY: 28, CZ: 24, DE: 22, DJ: 27, DK: 18, DO: 28, EE: 20, EG: 29, ES: 24, FI: 18, FK: 18, FO: 18, FR: 27, GB: 22 },
  ...{ GE: 22, GI: 23, GL: 18, GR: 27, GT: 28, HN: 28, HR: 21, HU: 28, IE: 22, IL: 23, IQ: 23, IS: 26, IT: 27, JO: 30 },
  ...{ KW: 30, KZ: 20, LB: 28, LC: 32, LI: 21, LT: 20, LU: 20, LV: 21, LY: 25, MC: 27, MD: 24, ME: 22, MK: 19, MN: 20 },
  ...{ MR: 27, MT: 31, MU: 30, NI: 28, NL: 18, NO: 15, OM: 23, PK: 24, PL: 28, PS: 29, PT: 25, QA: 29, RO: 24, RS: 22 },
  ...{ RU: 33, SA: 24, SC: 31, SD: 18, SE: 24, SI: 19, SK: 24, SM: 27, SO: 23, ST: 25, SV: 28, TL: 23, TN: 24, TR: 26 },
  ...{ UA: 29, VA: 22, VG: 24, XK: 20, YE: 30 },
};

const { digit, letter, blank, dash } = classes;
const alphanumeric = digit | letter;
const longestGap = 1;

const beginning = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g;

/** Bank account numbers of the form IBAN that pass their check, with or without blanks between groups. */
export function detectIbans(text: ClassedText): readonly Range[] {
  const found: Range[] = [];
  for (beginning.lastIndex = 0; beginning.test(text.text); ) {
    const start = beginning.lastIndex - 4;
    const end = endOf(text, start);
    if (end === undefined) continue;
    found.push({ start, end });
    beginning.lastIndex = end;
  }
  return found;
}

/** Where the number ends, if it has as many letters and digits as its country says and passes the check of ISO 7064. */
function endOf(text: ClassedText, start: number): number | undefined {
  const length = lengths[text.text.slice(start, start + 2).toUpperCase()];
  if (length === undefined) return undefined;
  let number = '';
  let gap = 0;
  let at = start;
  for (; at < text.text.length && number.length < length; at++) {
    if (text.is(alphanumeric, at)) {
      number += text.text.charAt(at);
      gap = 0;
    } else if (!text.is(blank | dash, at) || ++gap > longestGap) return undefined;
  }
  if (number.length < length || text.is(alphanumeric, at)) return undefined;
  return remainder(number.slice(4) + number.slice(0, 4)) === 1 ? at : undefined;
}

function remainder(number: string): number {
  let rest = 0;
  for (const character of number) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
