import type { AcceptedLoss, Anchor } from './anchor.ts';
import { requiredAnchors } from './anchor.ts';
import type { Verdict } from './judge-log.ts';
import type { Place } from './verify-entries.ts';

/** A log as far as anchors are about it. */
export interface AnchoredLog {
  readonly first: Place | undefined;
  readonly last: Place | undefined;
  readonly losses: readonly AcceptedLoss[];
  /** The hash of an entry that is anchored, where the log has it. */
  readonly hashOf: (seq: number) => string | undefined;
}

/** What is said of a log that was held against its anchors. */
export interface AnchoredVerdict extends Verdict {
  readonly anchors: {
    readonly lines: number;
    /** The newest; null where there is none. */
    readonly newest_seq: number | null;
    readonly newest_at: string | null;
    /** How many of them the log does not contain, as an operator has accepted. */
    readonly accepted_lost: number;
  };
}

/** Adds to a verdict whether the log contains what was anchored of it. The signatures have been found to be good. */
export function judgeAnchors(verdict: Verdict, anchors: readonly Anchor[], log: AnchoredLog): AnchoredVerdict {
  const newest = anchors.at(-1);
  const required = requiredAnchors(anchors, log.losses);
  const judged = {
    ...verdict,
    anchors: {
      lines: anchors.length,
      newest_seq: newest?.seq ?? null,
      newest_at: newest?.at ?? null,
      accepted_lost: anchors.length - required.length,
    },
  };
  if (verdict.result === 'broken') return judged;
  // The oldest first: from there on the log is another one.
  for (const anchor of required.toSorted((one, other) => one.seq - other.seq)) {
    const fault = faultOf(anchor, log, verdict.result === 'unbroken');
    if (fault !== undefined) return { ...judged, result: 'broken', broken_seq: fault.seq, why: fault.why };
  }
  return judged;
}

interface Fault {
  readonly seq: number | null;
  readonly why: string;
}

function faultOf({ seq, hash, at }: Anchor, { first, last, hashOf }: AnchoredLog, isWhole: boolean): Fault | undefined {
  if (first === undefined || last === undefined || seq > last.seq) {
    if (!isWhole) return undefined;
    const end = last === undefined ? 'is empty' : `ends with entry ${last.seq}`;
    return {
      seq: null,
      why: `entry ${seq} was anchored at ${at}, and the log ${end}: its newest entries are missing, or it was exported before`,
    };
  }
  // What retention has given up cannot be compared, but for the entry right before the first.
  const found = seq === first.seq - 1 ? first.prevHash : hashOf(seq);
  if (found === undefined || found === hash) return undefined;
  return { seq, why: `another entry was anchored in its place at ${at}` };
}
