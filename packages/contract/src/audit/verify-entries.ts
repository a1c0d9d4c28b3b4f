import type { AcceptedLoss } from './anchor.ts';
import { lossOf } from './anchor.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Cut } from './cut.ts';
import { cutOf } from './cut.ts';
import { isObject } from './is-object.ts';

/** What was found in a log, before anybody asked who vouches for its beginning. */
export interface Findings {
  readonly entries: number;
  readonly first: Place | undefined;
  readonly last: Place | undefined;
  /** Pairs of neighbours that link. */
  readonly links: number;
  /** Where entries are missing, the first first. */
  readonly gaps: readonly { readonly after: number; readonly before: number }[];
  readonly cuts: readonly Cut[];
  /** The hash of an entry, where it is known. */
  readonly hashAt: (seq: number) => string | undefined;
  readonly broken: Broken | undefined;
}

export interface Place {
  readonly seq: number;
  readonly hash: string;
  readonly prevHash: string;
}

export interface Broken {
  /** Undefined where a line is no entry. */
  readonly seq: number | undefined;
  readonly line: number;
  readonly why: string;
}

export const zeros = '0'.repeat(64);
const mostGaps = 1000;

/**
 * Looks at every entry of a log, oldest first, until one is broken: its own hash, its place, its link to the one before.
 * Whoever uses it works out the hashes, as fast as its platform can.
 */
export class EntryVerifier implements Findings {
  entries = 0;
  links = 0;
  first: Place | undefined;
  last: Place | undefined;
  broken: Broken | undefined;
  readonly gaps: { after: number; before: number }[] = [];
  readonly cuts: Cut[] = [];
  readonly losses: AcceptedLoss[] = [];
  /** Kept only where the log does not start with its first entry: a cut may name one of these. */
  readonly #hashes = new Map<number, string>();
  #line = 0;

  /** The entry of the next line; undefined where the line is empty, or no entry, which is then `broken`. */
  read(line: string): UncheckedEntry | undefined {
    this.#line++;
    if (line.trim() === '') return undefined;
    const entry = entryOf(line, this.#line);
    if (typeof entry !== 'string') return entry;
    this.broken = { seq: undefined, line: this.#line, why: entry };
    return undefined;
  }

  /** Takes an entry with the SHA-256 of its canonical text, in the order in which they were read; returns whether to go on. */
  take(entry: UncheckedEntry, sha256: string): boolean {
    const why = this.#fault(entry, sha256);
    if (why !== undefined) this.broken = { seq: entry.place.seq, line: entry.line, why };
    else this.#accept(entry);
    return why === undefined;
  }

  readonly hashAt = (seq: number): string | undefined => this.#hashes.get(seq);

  #fault({ place }: UncheckedEntry, sha256: string): string | undefined {
    if (sha256 !== place.hash) return 'its hash does not fit its content';
    const { last } = this;
    if (last === undefined) return undefined;
    if (place.seq <= last.seq) return `it comes after entry ${last.seq}`;
    if (place.seq === last.seq + 1 && place.prevHash !== last.hash) return 'it does not link to the entry before it';
    return undefined;
  }

  #accept({ place, cut, loss }: UncheckedEntry): void {
    const { last } = this;
    if (last !== undefined && place.seq === last.seq + 1) this.links++;
    else if (last !== undefined && this.gaps.length < mostGaps) this.gaps.push({ after: last.seq, before: place.seq });
    this.first ??= place;
    this.last = place;
    this.entries++;
    if (this.first.seq > 1) this.#hashes.set(place.seq, place.hash);
    if (cut !== undefined) this.cuts.push(cut);
    if (loss !== undefined) this.losses.push(loss);
  }
}

/** An entry whose hash is still to be compared. */
export interface UncheckedEntry {
  readonly place: Place;
  readonly line: number;
  /** What its hash is of. */
  readonly canonical: string;
  readonly cut: Cut | undefined;
  readonly loss: AcceptedLoss | undefined;
}

/** An entry, or why a line is none. */
function entryOf(line: string, number: number): UncheckedEntry | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'it is not JSON; was the export cut off?';
  }
  if (!isObject(value)) return 'it is not an entry';
  const { hash, ...content } = value;
  const { seq, prev_hash: prevHash } = content;
  const isEntry = Number.isSafeInteger(seq) && typeof hash === 'string' && typeof prevHash === 'string';
  if (!isEntry) return 'it is not an entry: seq, hash or prev_hash is missing';
  const place = { seq: seq as number, hash, prevHash };
  return { place, line: number, canonical: canonicalJson(content), cut: cutOf(content), loss: lossOf(content) };
}
