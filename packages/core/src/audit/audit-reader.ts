import type { Decision } from './entry.ts';
import { mostBytesOfPage, utf8Length } from '../kernel/index.ts';
import type { EpochMs } from '../kernel/index.ts';

/** An entry as it is kept: `canonical` is the text that `hash` is over. */
export interface StoredEntry {
  readonly seq: number;
  readonly hash: string;
  readonly canonical: string;
}

/** Which entries to find. Absent members do not narrow; a null org never matches an org that is asked for. */
export interface AuditQuery {
  readonly orgId?: string;
  readonly teamId?: string;
  readonly agentId?: string;
  readonly eventType?: string;
  readonly decision?: Decision;
  readonly opId?: string;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
  /** Impersonations in which this org was claimed, whoever's entry they are, count as the org's own. */
  readonly orClaimedOrgId?: string;
  /** Only entries that hold this text, in whatever case. */
  readonly q?: string;
  /** Only entries before this one: where the last page ended. */
  readonly before?: number;
  /** Only entries after this one. */
  readonly after?: number;
  /** Where gateways share a log: only those that this gateway has written. */
  readonly own?: boolean;
  readonly limit: number;
}

/** A page of entries, and how far the search has come: it may end early, so that none is too large or takes forever. */
export interface AuditPage {
  readonly entries: readonly StoredEntry[];
  /** Where to go on: before (or after) this sequence; null where there is nothing more. */
  readonly next: number | null;
}

/** The log from its beginning. */
export interface EntryLog {
  /**
   * Up to `limit` entries after `seq`, oldest first, and of those no more than a page holds in bytes: fewer than `limit`
   * are not the last ones, none at all are.
   */
  after(seq: number, limit: number): Promise<StoredEntry[]>;
}

export interface AuditReader {
  /** The newest entries that fit, newest first. */
  latest(query: AuditQuery): Promise<AuditPage>;
  /** The entries that fit, oldest first. */
  oldest(query: AuditQuery): Promise<AuditPage>;
}

/** What an entry takes beside its text: its hash, with the name and the punctuation around it. */
const besideText = 128;

/** A page of entries as it fills up: so many of them, and no more bytes than a page holds, though one entry at least. */
export class EntryPage {
  readonly entries: StoredEntry[] = [];
  readonly #limit: number;
  readonly #bytesOf: (text: string) => number;
  #bytes = 0;
  #isFull = false;

  /** `bytesOf`: the length of a text in UTF-8, where there is a faster way to tell. */
  constructor(limit: number, bytesOf: (text: string) => number = utf8Length) {
    this.#limit = limit;
    this.#bytesOf = bytesOf;
  }

  /** Takes an entry; false where the page is full without it. */
  offer(entry: StoredEntry): boolean {
    const bytes = this.#bytesOf(entry.canonical) + besideText;
    this.#isFull =
      this.entries.length >= this.#limit || (this.entries.length > 0 && this.#bytes + bytes > mostBytesOfPage);
    if (this.#isFull) return false;
    this.entries.push(entry);
    this.#bytes += bytes;
    return true;
  }

  /** The page; `next` is where to go on if all of what was found is on it. */
  finish(next: number | null = null): AuditPage {
    return { entries: this.entries, next: this.#isFull ? (this.entries.at(-1)?.seq ?? next) : next };
  }
}
