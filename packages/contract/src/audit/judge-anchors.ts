import type { AcceptedLoss, Anchor } from './anchor.ts';
import { requiredAnchors } from './anchor.ts';
import type { Verdict } from './judge-log.ts';
import type { ChainPosition } from './verify-entries.ts';

/** The parts of a log that anchors concern. */
export interface AnchoredLog {
  readonly first: ChainPosition | undefined;
  readonly last: ChainPosition | undefined;
  readonly losses: readonly AcceptedLoss[];
  /** The hash of an anchored entry, if the log has it. */
  readonly hashOf: (seq: number) => string | undefined;
}

/** The verdict on a log that was compared with its anchors. */
export interface AnchoredVerdict extends Verdict {
  readonly anchors: {
    readonly lines: number;
    /** The newest anchor. Null if there is none. */
    readonly newest_seq: number | null;
    readonly newest_at: string | null;
    /** How many anchors the log lacks with an operator's acceptance. */
    readonly accepted_lost: number;
  };
}

/** Adds to a verdict whether the log contains what was anchored. The caller has already verified the signatures. */
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
  // Oldest first: from the first mismatch on, the log is a different one.
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
  // Entries that retention removed cannot be compared, except for the one right before the first.
  const found = seq === first.seq - 1 ? first.prevHash : hashOf(seq);
  if (found === undefined || found === hash) return undefined;
  return { seq, why: `another entry was anchored in its place at ${at}` };
}
