import { breaksSecrets, findSecrets } from '../audit/index.ts';
import type { Range } from '../kernel/index.ts';
import { ClassedText } from './char-classes.ts';
import { detectCards } from './detect-card.ts';
import { detectEmails } from './detect-email.ts';
import { detectIbans } from './detect-iban.ts';
import { detectIps } from './detect-ip.ts';
import { detectPhones } from './detect-phone.ts';
import { detectUsSsns } from './detect-us-ssn.ts';
import type { BreaksAt } from './detector-breaks.ts';
import { breaksEmails, breaksIbans, breaksIps, breaksNumbers, breaksPhones } from './detector-breaks.ts';

export const detectorNames = ['email', 'phone', 'card', 'iban', 'us_ssn', 'ip', 'secret'] as const;

export type DetectorName = (typeof detectorNames)[number];

interface Detector {
  /** In time linear in the text, whatever the text is. */
  readonly find: (text: ClassedText) => Iterable<Range>;
  /** Where a text that is still being written can be cut. */
  readonly breaksAt: BreaksAt;
}

/** What can be found in a text by its form. */
const detectors: Readonly<Record<DetectorName, Detector>> = {
  email: { find: detectEmails, breaksAt: breaksEmails },
  phone: { find: detectPhones, breaksAt: breaksPhones },
  card: { find: detectCards, breaksAt: breaksNumbers },
  iban: { find: detectIbans, breaksAt: breaksIbans },
  us_ssn: { find: detectUsSsns, breaksAt: breaksNumbers },
  ip: { find: detectIps, breaksAt: breaksIps },
  secret: {
    find: ({ text }) => [...findSecrets(text)].filter(({ start, end }) => end > start),
    breaksAt: breaksSecrets,
  },
};

/** Blanks, dashes and wide forms, each of one unit, that people and programs write in place of those of ASCII. */
const variants = /[\u00a0\u2000-\u200a\u202f\u205f\u3000\u2010-\u2015\u2212\uff01-\uff5e]/;
const everyVariant = new RegExp(variants, 'g');

/** The text as detectors of one line read it, as long as it was. */
export function plainly(text: string): string {
  return variants.test(text) ? text.replaceAll(everyVariant, asciiOf) : text;
}

function asciiOf(variant: string): string {
  const code = variant.charCodeAt(0);
  if (code >= 0xff01) return String.fromCharCode(code - 0xfee0);
  return (code >= 0x2010 && code <= 0x2015) || code === 0x2212 ? '-' : ' ';
}

/** Whether what it finds never goes beyond the end of a line, and does not depend on other lines. */
export function staysInLine(name: DetectorName): boolean {
  return name !== 'secret';
}

/** What one of them finds in a text, in no order. */
export function detect(name: DetectorName, text: string | ClassedText): Iterable<Range> {
  return detectors[name].find(typeof text === 'string' ? new ClassedText(text) : text);
}

/** Whether a text that is still being written can be cut here: what this one finds in its parts is what it finds in the whole. */
export function breaksAt(name: DetectorName, text: string, at: number): boolean {
  return detectors[name].breaksAt(text, at);
}
