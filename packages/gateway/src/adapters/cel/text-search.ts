import type { Frame } from './frame.ts';

/** The most frequent characters of texts and code, in descending order. */
const frequent = ' etaoinsrlhdcumpfg,.bywv"_-=/():;kx01jzq2';

/**
 * The first place at or after `from` where a text holds another, or -1. An agent can choose texts for which the
 * engine's own search takes the product of both lengths. This search looks for the needle's rarest character, which is
 * fast, and charges for each place where that character stands.
 */
export function find(frame: Frame, text: string, needle: string, from = 0): number {
  if (needle === '') return from <= text.length ? from : -1;
  const { char, at, price } = anchorOf(frame, needle);
  let looked = from;
  for (let hit = text.indexOf(char, from + at); hit >= 0; hit = text.indexOf(char, hit + 1)) {
    frame.charge(price + (hit - looked) / scanned);
    looked = hit;
    if (text.startsWith(needle, hit - at)) return hit - at;
  }
  frame.charge(1 + (text.length - looked) / scanned);
  return -1;
}

/** The last place where a text holds another, at `from` at most, or -1. */
export function findLast(frame: Frame, text: string, needle: string, from = text.length): number {
  if (needle === '') return Math.min(from, text.length);
  frame.charge(1 + text.length / scannedBackwards);
  const { char, at, price } = anchorOf(frame, needle);
  for (let hit = text.lastIndexOf(char, from + at); hit >= at; hit = text.lastIndexOf(char, hit - 1)) {
    frame.charge(price);
    if (text.startsWith(needle, hit - at)) return hit - at;
    if (hit === 0) break;
  }
  return -1;
}

/** How many characters the engine looks through for one unit of cost. */
const scanned = 128;
const scannedBackwards = 16;

interface Anchor {
  readonly char: string;
  readonly at: number;
  /** The cost of one comparison. */
  readonly price: number;
}

/** The rarest character is chosen among this many at the start of the needle. */
const judged = 64;

function anchorOf(frame: Frame, needle: string): Anchor {
  const length = Math.min(needle.length, judged);
  frame.charge(length);
  let at = 0;
  let best = -1;
  for (let place = 0; place < length; place++) {
    const found = frequent.indexOf(needle.charAt(place));
    const rarity = found < 0 ? frequent.length : found;
    if (rarity > best) {
      best = rarity;
      at = place;
    }
  }
  return { char: needle.charAt(at), at, price: 3 + needle.length / 16 };
}
