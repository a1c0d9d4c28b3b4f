import { createHash } from 'node:crypto';
import { isObject } from '../is-object.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Cut } from './signed-cut.ts';
import { cutOf } from './signed-cut.ts';

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

/** Looks at every entry of a log, oldest first, until one is broken: its own hash, its place, its link to the one before. */
export class EntryVerifier implements Findings {
  entries = 0;
  links = 0;
  first: Place | undefined;
  last: Place | undefined;
  broken: Broken | undefined;
  readonly gaps: { after: number; before: number }[] = [];
  readonly cuts: Cut[] = [];
  /** Kept only where the log does not start with its first entry: a cut may name one of these. */
  readonly #hashes = new Map<number, Buffer>();
  #line = 0;

  /** Takes the next line; returns whether to go on. */
  take(line: string): boolean {
    this.#line++;
    if (line.trim() === '') return true;
    const entry = entryOf(line);
    if (typeof entry === 'string') return this.#fail(undefined, entry);
    const why = this.#fault(entry);
    if (why !== undefined) return this.#fail(entry.place.seq, why);
    this.#accept(entry);
    return true;
  }

  readonly hashAt = (seq: number): string | undefined => this.#hashes.get(seq)?.toString('hex');

  #fault({ place, canonical }: Entry): string | undefined {
    if (createHash('sha256').update(canonical).digest('hex') !== place.hash) return 'its hash does not fit its content';
    const { last } = this;
    if (last === undefined) return undefined;
    if (place.seq <= last.seq) return `it comes after entry ${last.seq}`;
    if (place.seq === last.seq + 1 && place.prevHash !== last.hash) return 'it does not link to the entry before it';
    return undefined;
  }

  #accept({ place, cut }: Entry): void {
    const { last } = this;
    if (last !== undefined && place.seq === last.seq + 1) this.links++;
    else if (last !== undefined && this.gaps.length < mostGaps) this.gaps.push({ after: last.seq, before: place.seq });
    this.first ??= place;
    this.last = place;
    this.entries++;
    if (this.first.seq > 1) this.#hashes.set(place.seq, Buffer.from(place.hash, 'hex'));
    if (cut !== undefined) this.cuts.push(cut);
  }

  #fail(seq: number | undefined, why: string): false {
    this.broken = { seq, line: this.#line, why };
    return false;
  }
}

interface Entry {
  readonly place: Place;
  readonly canonical: string;
  readonly cut: Cut | undefined;
}

/** An entry, or why a line is none. */
function entryOf(line: string): Entry | string {
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
  return { place: { seq: seq as number, hash, prevHash }, canonical: canonicalJson(content), cut: cutOf(content) };
}
