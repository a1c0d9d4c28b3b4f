import type { PackedEntry } from './log-block.ts';

/** What entries are found by. The order is a part of the file. */
const kinds = ['org', 'agent', 'op', 'event', 'user', 'org user', 'run'] as const;
export type Kind = (typeof kinds)[number];

/** Event types so frequent that to find them by type would be no faster than to read the log. */
export const frequentEvents = ['ActionAllowed', 'ActionDenied', 'ActionPending', 'OpStateChanged'];

/** What a segment takes of an entry. */
export const segmentNames = [
  ...(['seq', 'at', 'event_type', 'org_id', 'agent_id'] as const),
  ...(['op_id', 'user_sub', 'user_email', 'run'] as const),
];
export type SegmentEntry = Pick<PackedEntry, (typeof segmentNames)[number] & keyof PackedEntry> & {
  readonly at: number;
};

/** A stretch of entries, with the range of their times. */
export interface Times {
  readonly first: number;
  last: number;
  minAt: number;
  maxAt: number;
}

/** How many entries a segment has at most: the place of one in it takes 16 bits. */
export const mostEntries = 65_536;
/** A stretch for times has about so many. */
const timedEntries = 1024;

/** A hash has 37 bits, so that one number holds it and a place. Ten of them choose the row of a segment, the row says the others. */
const buckets = 1024;
const bucketSpan = 2 ** 27;
/** How many rows a segment has at most. */
export const rowsOfSegment = 8192;

/**
 * What the entries of a stretch of the log are found by. For each kind of key it has the hashes of its texts, each with the
 * places where it stands. Two texts may have one hash, so whoever finds an entry by it compares the entry itself.
 */
export class LogSegment {
  /** The first entry; undefined if there is none yet. */
  first: number | undefined;
  /** The last entry, or that of the segment before. */
  through: number;
  readonly times: Times[] = [];
  /** The last entry of each block that could not be read. */
  readonly damaged: number[] = [];
  readonly #most: number;
  readonly #keys = kinds.map(() => new Keys());

  constructor(through: number, most = mostEntries) {
    this.through = through;
    this.#most = most;
  }

  /** Whether an entry is not too far from the first one. */
  fits(seq: number): boolean {
    return this.first === undefined || seq - this.first < this.#most;
  }

  /** Adds an entry that fits and is newer than all others. */
  add(entry: SegmentEntry): void {
    const {
      seq,
      at,
      org_id: org,
      agent_id: agent,
      op_id: op,
      event_type: event,
      user_sub: sub,
      user_email: email,
    } = entry;
    this.#extend({ first: seq, last: seq, minAt: at, maxAt: at });
    if (org !== null) this.#add('org', org);
    if (agent !== '') this.#add('agent', agent);
    if (op !== null) this.#add('op', op);
    if (!frequentEvents.includes(event)) this.#add('event', event);
    // Subjects differ by letter case, but rarely by nothing else. The query compares the entry itself.
    if (sub !== null) this.#addUser(org, sub.toLowerCase());
    if (email !== null) this.#addUser(org, email);
    if (entry.run !== null) this.#add('run', entry.run);
  }

  /** Adds a block of which nothing is known but its times, if its last entry fits. */
  addDamaged(block: Times): void {
    this.#extend(block);
    this.damaged.push(block.last);
  }

  #extend(added: Times): void {
    const { last, minAt, maxAt } = added;
    this.first ??= last;
    this.through = last;
    const newest = this.times.at(-1);
    if (newest === undefined || last - newest.first >= timedEntries) this.times.push(added);
    else {
      newest.last = last;
      newest.minAt = Math.min(newest.minAt, minAt);
      newest.maxAt = Math.max(newest.maxAt, maxAt);
    }
  }

  #addUser(org: string | null, user: string): void {
    this.#add('user', user);
    if (org !== null) this.#add('org user', orgUser(org, user));
  }

  #add(kind: Kind, text: string): void {
    this.#keys[kinds.indexOf(kind)]?.add(hashOf(text) * mostEntries + this.through - (this.first ?? 0));
  }

  /** Where a text stands, oldest first. */
  places(kind: Kind, text: string): Uint16Array {
    return Uint16Array.from(this.#keys[kinds.indexOf(kind)]?.placesOf(hashOf(text)) ?? []);
  }

  /** The rows of the segment: for each hash eleven and sixteen of its bits, how many places follow the first one, and its places. */
  *rows(): Generator<readonly [row: number, items: Uint8Array]> {
    for (const [kind, list] of this.#keys.entries()) {
      const keys = list.sorted();
      const items = new Uint16Array(4 * keys.length);
      let [row, hash, begin, countAt, end] = [-1, -1, 0, 0, 0];
      for (let at = 0; at < keys.length; at++) {
        const key = keys[at] ?? 0;
        const of = Math.floor(key / mostEntries);
        if (of === hash) items[countAt] = (items[countAt] ?? 0) + 1;
        else {
          hash = of;
          const bucket = Math.floor(of / bucketSpan);
          const next = kind * buckets + bucket;
          if (next !== row && end > begin) yield [row, bytesOf(items.subarray(begin, end))];
          if (next !== row) begin = end;
          row = next;
          const rest = of - bucket * bucketSpan;
          items[end++] = rest >>> 16;
          items[end++] = rest & 0xff_ff;
          countAt = end++;
        }
        items[end++] = key - of * mostEntries;
      }
      if (end > begin) yield [row, bytesOf(items.subarray(begin, end))];
    }
  }

  /** Adds what a row says. */
  load(row: number, bytes: Uint8Array): void {
    const items = itemsOf(bytes);
    const keys = this.#keys[Math.floor(row / buckets)];
    for (let at = 0; at < items.length; at = endOf(items, at)) {
      const hash = (row % buckets) * bucketSpan + (items[at] ?? 0) * 65_536 + (items[at + 1] ?? 0);
      for (let of = at + 3; of < endOf(items, at); of++) keys?.add(hash * mostEntries + (items[of] ?? 0));
    }
  }
}

/** Numbers, each of a hash and a place. */
class Keys {
  #keys = new Float64Array();
  /** For each key the one before it whose hash has the same first bits, counted from one, and for those bits the last one. */
  #before = new Uint32Array();
  readonly #last = new Uint32Array(buckets);
  #count = 0;

  add(key: number): void {
    // The email of a user may be the subject.
    if (this.#count > 0 && this.#keys[this.#count - 1] === key) return;
    if (this.#count === this.#keys.length) this.#grow(Math.max(64, 2 * this.#count));
    const bucket = Math.floor(key / mostEntries / bucketSpan);
    this.#before[this.#count] = this.#last[bucket] ?? 0;
    this.#keys[this.#count++] = key;
    this.#last[bucket] = this.#count;
  }

  #grow(length: number): void {
    const [keys, before] = [new Float64Array(length), new Uint32Array(length)];
    keys.set(this.#keys);
    before.set(this.#before);
    [this.#keys, this.#before] = [keys, before];
  }

  /** Places of one hash are added in their order. */
  placesOf(hash: number): number[] {
    const from = hash * mostEntries;
    const found: number[] = [];
    let at = this.#last[Math.floor(hash / bucketSpan)] ?? 0;
    for (; at > 0; at = this.#before[at - 1] ?? 0) {
      const place = (this.#keys[at - 1] ?? 0) - from;
      if (place >= 0 && place < mostEntries) found.push(place);
    }
    return found.reverse();
  }

  /** By their hashes. */
  sorted(): Float64Array {
    return this.#keys.slice(0, this.#count).sort();
  }
}

/** No org has a line break in its id. */
export function orgUser(org: string, user: string): string {
  return `${org}\n${user}`;
}

/** The row of a segment that says where a text stands, and what reads it. */
export function rowOf(kind: Kind, text: string): readonly [row: number, places: (bytes: Uint8Array) => Uint16Array] {
  const hash = hashOf(text);
  const [high, low] = restOf(hash);
  const places = (bytes: Uint8Array) => {
    const items = itemsOf(bytes);
    for (let at = 0; at < items.length; at = endOf(items, at)) {
      if (items[at] === high && items[at + 1] === low) return items.subarray(at + 3, endOf(items, at));
    }
    return new Uint16Array();
  };
  return [kinds.indexOf(kind) * buckets + Math.floor(hash / bucketSpan), places];
}

function restOf(hash: number): readonly [high: number, low: number] {
  const rest = hash % bucketSpan;
  return [rest >>> 16, rest & 0xff_ff];
}

/** Where the next hash begins. */
function endOf(items: Uint16Array, at: number): number {
  return at + 4 + (items[at + 2] ?? 0);
}

function bytesOf(items: Uint16Array): Uint8Array {
  return new Uint8Array(items.buffer, items.byteOffset, items.byteLength);
}

function itemsOf(bytes: Uint8Array): Uint16Array {
  return new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1);
}

/** Two sums over the letters, mixed in the end, so that all bits depend on all letters. */
function hashOf(text: string): number {
  let [a, b] = [0xde_ad_be_ef, 0x41_c6_ce_57];
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    a = Math.imul(a ^ letter, 2_654_435_761);
    b = Math.imul(b ^ letter, 1_597_334_677);
  }
  const high = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  const low = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return (high & 0x1f) * 2 ** 32 + (low >>> 0);
}
