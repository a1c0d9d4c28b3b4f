import type { AuditPage, StoredEntry } from './audit-reader.ts';
import { mostBytesOfPage } from '../kernel/bounds.ts';
import { utf8Length } from '../kernel/text-size.ts';

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
