import { breaksSecrets, findSecrets, mayHoldSecret } from '../audit/index.ts';
import type { Range } from '../kernel/index.ts';
import { detectCards } from './detect-card.ts';
import { detectEmails } from './detect-email.ts';
import { detectIbans } from './detect-iban.ts';
import { detectIps } from './detect-ip.ts';
import { detectPhones } from './detect-phone.ts';
import { detectUsSsns } from './detect-us-ssn.ts';
import type { BreaksAt } from './detector-breaks.ts';
import { breaksEmails, breaksIbans, breaksIps, breaksNumbers } from './detector-breaks.ts';

export const detectorNames = ['email', 'phone', 'card', 'iban', 'us_ssn', 'ip', 'secret'] as const;

export type DetectorName = (typeof detectorNames)[number];

interface Detector {
  /** A cheap check before the careful one. It matches all that the careful one finds, whatever stands around it. */
  readonly may: RegExp;
  /** In time linear in the text, whatever the text is. */
  readonly find: (text: string) => Iterable<Range>;
  /** Where a text that is still being written can be cut. */
  readonly breaksAt: BreaksAt;
}

/** What can be found in a text by its form. */
const detectors: Readonly<Record<DetectorName, Detector>> = {
  email: { may: /@|%40/, find: detectEmails, breaksAt: breaksEmails },
  phone: { may: /\d[\d ()/.-]{7}/, find: detectPhones, breaksAt: breaksNumbers },
  card: { may: /\d[\d -]{12}/, find: detectCards, breaksAt: breaksNumbers },
  iban: { may: /[A-Za-z]{2}\d{2}/, find: detectIbans, breaksAt: breaksIbans },
  us_ssn: { may: /\d{3}[ -]\d{2}[ -]\d{4}/, find: detectUsSsns, breaksAt: breaksNumbers },
  ip: { may: /\.\d|:[\d:a-fA-F]/, find: detectIps, breaksAt: breaksIps },
  secret: { may: mayHoldSecret, find: findSecrets, breaksAt: breaksSecrets },
};

const shortest = 3;

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

export function mayBeIn(name: DetectorName, text: string): boolean {
  return text.length >= shortest && detectors[name].may.test(text);
}

export function* detect(name: DetectorName, text: string): Generator<Range> {
  if (!mayBeIn(name, text)) return;
  for (const range of detectors[name].find(text)) if (range.end > range.start) yield range;
}

/** Whether a text that is still being written can be cut here: what this one finds in its parts is what it finds in the whole. */
export function breaksAt(name: DetectorName, text: string, at: number): boolean {
  return detectors[name].breaksAt(text, at);
}
