import type { EpochMs } from '../kernel/index.ts';
import type { StoredEntry } from './audit-reader.ts';

/** What stands behind the lineage of an entry, as far as replays need it. Who reads a payload knows its members. */
export interface EntryBody {
  readonly op_id: string | null;
  readonly payload: object;
  readonly policy_rule: string | null;
  readonly reason: string | null;
}

const lineageKey = ',"lineage":{';
const opIdKey = ',"op_id":';
const typeKey = ',"event_type":"';
const atKey = ',"at":"';

/**
 * An entry that is read again. It finds what the entry is about without parsing it, because most entries of a replay
 * need no more. Members are sorted, and no text can pass for a key: its quotes are escaped. The texts are cut out of the
 * entry, so whoever keeps them keeps it.
 */
export class ReplayedEntry {
  readonly seq: number;
  readonly canonical: string;
  readonly type: string;
  /** As the log writes it. */
  readonly lineage: string;
  readonly opId: string | null;
  readonly #bodyAt: number;
  #body: EntryBody | undefined;

  constructor({ seq, canonical }: Pick<StoredEntry, 'seq' | 'canonical'>) {
    this.seq = seq;
    this.canonical = canonical;
    const typeAt = canonical.indexOf(typeKey);
    const lineageAt = typeAt < 0 ? -1 : canonical.indexOf(lineageKey, typeAt);
    const opIdAt = lineageAt < 0 ? -1 : canonical.indexOf(opIdKey, lineageAt);
    const from = opIdAt + opIdKey.length;
    const isNull = canonical.startsWith('null', from);
    const end = isNull ? from + 4 : canonical.indexOf('"', from + 1) + 1;
    const opId = canonical.slice(from + 1, end - 1);
    this.#bodyAt = opIdAt + 1;
    if (opIdAt < 0 || (!isNull && opId.includes('\\'))) {
      const parsed = JSON.parse(canonical) as EntryBody & { event_type: string; lineage: object };
      this.type = parsed.event_type;
      this.lineage = JSON.stringify(parsed.lineage);
      this.opId = parsed.op_id;
      this.#body = parsed;
    } else {
      this.type = canonical.slice(typeAt + typeKey.length, lineageAt - 1);
      this.lineage = canonical.slice(lineageAt + lineageKey.length - 1, opIdAt);
      this.opId = isNull ? null : opId;
    }
  }

  /** Parsed once, however many ask. Its texts are copies. */
  get body(): EntryBody {
    this.#body ??= JSON.parse(`{${this.canonical.slice(this.#bodyAt)}`) as EntryBody;
    return this.#body;
  }
}

/** Reads when entries were written. Most were in the minute of the one before, and then only seconds are read. */
export class EntryTimes {
  #minute = ' ';
  #startsAt: EpochMs = 0;

  of({ canonical }: Pick<StoredEntry, 'canonical'>): EpochMs {
    const from = canonical.indexOf(atKey) + atKey.length;
    const isUsual = canonical.startsWith('Z"', from + 23);
    if (isUsual && canonical.startsWith(this.#minute, from)) {
      const digit = (at: number) => canonical.charCodeAt(from + at) - zero;
      const seconds = digit(17) * 10 + digit(18);
      return this.#startsAt + seconds * 1000 + digit(20) * 100 + digit(21) * 10 + digit(22);
    }
    const text = canonical.slice(from, canonical.indexOf('"', from));
    if (isUsual) {
      this.#minute = text.slice(0, 17);
      this.#startsAt = Date.parse(`${this.#minute}00.000Z`);
    }
    return Date.parse(text);
  }
}

const zero = 48;
