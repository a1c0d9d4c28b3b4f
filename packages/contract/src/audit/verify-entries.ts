import type { AcceptedLoss } from './anchor.ts';
import { lossOf } from './anchor.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Cut } from './cut.ts';
import { cutOf } from './cut.ts';
import { isObject } from './is-object.ts';

/** The findings in a log, before anybody asks who vouches for its start. */
export interface Findings {
  readonly entries: number;
  readonly first: ChainPosition | undefined;
  readonly last: ChainPosition | undefined;
  /** The number of neighbouring pairs that link. */
  readonly links: number;
  /** Where entries are missing, in order. */
  readonly gaps: readonly { readonly after: number; readonly before: number }[];
  readonly cuts: readonly Cut[];
  /** Whether all entries have something in common by which an export can be filtered. */
  readonly mayBeFiltered: boolean;
  /** The hash of an entry, if it is known. */
  readonly hashAt: (seq: number) => string | undefined;
  readonly broken: Broken | undefined;
}

export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
  readonly prevHash: string;
}

export interface Broken {
  /** Undefined if the line is not an entry. */
  readonly seq: number | undefined;
  readonly line: number;
  readonly why: string;
}

export const zeros = '0'.repeat(64);
const mostGaps = 1000;

/**
 * Checks every entry of a log, oldest first, until one is broken: its own hash, its place, and its link to the entry
 * before. The caller computes the hashes, as fast as its platform can.
 */
export class EntryVerifier implements Findings {
  entries = 0;
  links = 0;
  first: ChainPosition | undefined;
  last: ChainPosition | undefined;
  broken: Broken | undefined;
  readonly gaps: { after: number; before: number }[] = [];
  readonly cuts: Cut[] = [];
  readonly losses: AcceptedLoss[] = [];
  /** Kept only if the log does not start with its first entry, because a cut may name one of these. */
  readonly #hashes = new Map<number, string>();
  /** What all entries so far have in common. */
  #common: readonly string[] | undefined;
  #line = 0;

  get mayBeFiltered(): boolean {
    return this.#common !== undefined && this.#common.length > 0;
  }

  /** Reads the entry of the next line. Undefined if the line is empty, or is not an entry, which sets `broken`. */
  read(line: string): UncheckedEntry | undefined {
    this.#line++;
    if (line.trim() === '') return undefined;
    const entry = entryOf(line, this.#line);
    if (typeof entry !== 'string') return entry;
    this.broken = { seq: undefined, line: this.#line, why: entry };
    return undefined;
  }

  /** Takes an entry with the SHA-256 of its canonical text, in reading order. Returns whether to go on. */
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

  #accept({ place, cut, loss, content }: UncheckedEntry): void {
    const { last } = this;
    if (last !== undefined && place.seq === last.seq + 1) this.links++;
    else if (last !== undefined && this.gaps.length < mostGaps) this.gaps.push({ after: last.seq, before: place.seq });
    this.first ??= place;
    this.last = place;
    this.entries++;
    if (this.#common?.length !== 0) {
      const traits = traitsOf(content);
      this.#common = this.#common?.filter((trait) => traits.includes(trait)) ?? traits;
    }
    if (this.first.seq > 1) this.#hashes.set(place.seq, place.hash);
    if (cut !== undefined) this.cuts.push(cut);
    if (loss !== undefined) this.losses.push(loss);
  }
}

/** An entry whose hash is not yet compared. */
export interface UncheckedEntry {
  readonly place: ChainPosition;
  readonly line: number;
  /** The text that the hash covers. */
  readonly canonical: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly cut: Cut | undefined;
  readonly loss: AcceptedLoss | undefined;
}

/** What an entry says that an export can be filtered by, but for its time and its words. */
function traitsOf({ lineage, event_type, decision, op_id }: UncheckedEntry['content']): readonly string[] {
  const { org_id, team_id, agent_id } = isObject(lineage) ? lineage : {};
  const traits = Object.entries({ org_id, team_id, agent_id, event_type, decision, op_id });
  return traits.flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? `${name} ${value}` : []));
}

/** The entry of a line, or why the line is not an entry. */
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
  return {
    place,
    line: number,
    canonical: canonicalJson(content),
    content,
    cut: cutOf(content),
    loss: lossOf(content),
  };
}
