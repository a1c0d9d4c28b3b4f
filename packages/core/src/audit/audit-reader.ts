import type { Decision } from './entry.ts';
import { mostBytesOfPage, utf8Length } from '../kernel/index.ts';
import type { EpochMs } from '../kernel/index.ts';

/** An entry as stored. `hash` is the hash of `canonical`. It is empty for an entry that cannot be read. */
export interface StoredEntry {
  readonly seq: number;
  readonly hash: string;
  readonly canonical: string;
}

/** Whether two hashes may be of one entry. Where one of them is of an entry that could not be read, nobody can tell. */
export function mayBeSameEntry(hash: string, other: string): boolean {
  return hash === '' || other === '' || hash === other;
}

/**
 * An entry as it was read. An instance and no literal: V8 may allot the literals of one place to the old generation for
 * good, and each would keep its text there until a full collection. A start reads hundreds of thousands.
 */
export class ReadEntry implements StoredEntry {
  readonly seq: number;
  readonly hash: string;
  readonly canonical: string;

  constructor(seq: number, hash: string, canonical: string) {
    this.seq = seq;
    this.hash = hash;
    this.canonical = canonical;
  }
}

/** An entry with its hash, as exports have it, without parsing its text. */
export function entryJson({ canonical, hash }: StoredEntry): string {
  return `${canonical.slice(0, -1)},"hash":"${hash}"}`;
}

/** Which entries to find. Absent members do not narrow. An entry without an org never matches an `orgId`. */
export interface AuditQuery {
  readonly orgId?: string;
  readonly teamId?: string;
  readonly agentId?: string;
  readonly eventType?: string;
  readonly decision?: Decision;
  readonly opId?: string;
  /** The `sub` of a user, to the letter, or the email in any letter case. */
  readonly user?: string;
  /** The key of a run: the decisions on its operations. */
  readonly run?: string;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
  /** Includes impersonations that claimed this org, even if their entries belong to another org. */
  readonly orClaimedOrgId?: string;
  /** Only entries that contain this text, ignoring case. */
  readonly q?: string;
  /** Only entries before this one: where the last page ended. */
  readonly before?: number;
  /** Only entries after this one. */
  readonly after?: number;
  readonly limit: number;
}

/** A page of entries, and how far the search has come. A page may end early, to bound its size and its time. */
export interface AuditPage {
  readonly entries: readonly StoredEntry[];
  /** Continue before (or after) this sequence. Null if there is nothing more. */
  readonly next: number | null;
}

/** Reads the log from its beginning. */
export interface EntryLog {
  /**
   * Up to `limit` entries after `seq`, oldest first, within the byte limit of a page. Fewer than `limit` entries do not
   * mean the end of the log; no entries do.
   */
  after(seq: number, limit: number): Promise<StoredEntry[]>;
}

export interface AuditReader {
  /** The newest entries that match, newest first. */
  latest(query: AuditQuery): Promise<AuditPage>;
  /** The entries that match, oldest first. */
  oldest(query: AuditQuery): Promise<AuditPage>;
}

/** The bytes of an entry beside its text: its hash, with its name and punctuation. */
const besideText = 128;

/** Collects a page of entries, up to a count and the byte limit of a page. It takes at least one entry. */
export class EntryPage {
  readonly entries: StoredEntry[] = [];
  readonly #limit: number;
  readonly #bytesOf: (text: string) => number;
  #bytes = 0;
  #isFull = false;

  /** `bytesOf` measures a text in UTF-8, if there is a faster way to do so. */
  constructor(limit: number, bytesOf: (text: string) => number = utf8Length) {
    this.#limit = limit;
    this.#bytesOf = bytesOf;
  }

  /** Adds an entry. Returns false if the page is full without it. */
  offer(entry: StoredEntry): boolean {
    const bytes = this.#bytesOf(entry.canonical) + besideText;
    this.#isFull =
      this.entries.length >= this.#limit || (this.entries.length > 0 && this.#bytes + bytes > mostBytesOfPage);
    if (this.#isFull) return false;
    this.entries.push(entry);
    this.#bytes += bytes;
    return true;
  }

  /** The page. `next` is where to continue if the page holds all that was found. */
  finish(next: number | null = null): AuditPage {
    return { entries: this.entries, next: this.#isFull ? (this.entries.at(-1)?.seq ?? next) : next };
  }
}
