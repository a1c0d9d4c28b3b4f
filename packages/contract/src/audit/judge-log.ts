import type { Cut } from './cut.ts';
import type { Findings } from './verify-entries.ts';
import { zeros } from './verify-entries.ts';

/** Whether a gateway key signed a cut. */
type IsSigned = (cut: Cut) => boolean | Promise<boolean>;

/** The final verdict on a log. */
export interface Verdict {
  /**
   * `unbroken`: the whole chain is intact. `not_checkable`: a filter can explain the missing entries, and each entry's
   * own hash matches.
   */
  readonly result: 'unbroken' | 'broken' | 'not_checkable';
  readonly entries: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly last_hash: string | null;
  /** The last entry removed behind a signed cut. Null if the log starts with its first entry. */
  readonly cut_at: number | null;
  /** The first broken entry. Null if none is broken, or if a line is not an entry. */
  readonly broken_seq: number | null;
  readonly why: string | null;
}

/** What a log is said to be: all of it, or a part that was filtered out of it. Undefined if nobody says so. */
export type SaidToBe = 'whole' | 'part' | undefined;

/**
 * Judges the findings. An export does not say whether it was filtered. If nobody else does, it counts as a whole log with
 * entries taken out where it starts with the chain, most of its entries link, and they have nothing in common that they may
 * have been filtered by. Otherwise it counts as a part.
 */
export async function judgeLog(findings: Findings, isSigned: IsSigned, saidToBe: SaidToBe): Promise<Verdict> {
  const { first, last, entries, broken, gaps, links, mayBeFiltered } = findings;
  const mustBeWhole = saidToBe === 'whole';
  const cutAt = first === undefined || first.seq === 1 ? null : await vouchedCut(findings, isSigned);
  const base = {
    entries,
    first_seq: first?.seq ?? null,
    last_seq: last?.seq ?? null,
    last_hash: last?.hash ?? null,
    cut_at: cutAt,
    broken_seq: null,
    why: null,
  };
  const fail = (seq: number | null, why: string) => ({ ...base, result: 'broken' as const, broken_seq: seq, why });
  if (broken !== undefined) {
    return fail(broken.seq ?? null, broken.seq === undefined ? `line ${broken.line}: ${broken.why}` : broken.why);
  }
  if (first === undefined) return { ...base, result: 'unbroken' };
  if (first.seq === 1 && first.prevHash !== zeros) return fail(1, 'the first entry must link to 64 zeros');
  const isAnchored = first.seq === 1 || cutAt !== null;
  const [gap] = gaps;
  const looksWhole = isAnchored && links >= gaps.length && !mayBeFiltered;
  const isTakenForWhole = mustBeWhole || (saidToBe === undefined && looksWhole);
  if (gap !== undefined && isTakenForWhole) return fail(gap.before, `entries are missing between ${gap.after} and it`);
  if (!isAnchored && mustBeWhole)
    return fail(first.seq, 'the log starts with it, and nothing vouches for what was before');
  if (gap !== undefined)
    return {
      ...base,
      result: 'not_checkable',
      why: `it is a part of the log: entries are missing, the first after ${gap.after}`,
    };
  if (!isAnchored)
    return {
      ...base,
      result: 'not_checkable',
      why: `it starts with entry ${first.seq}, and nothing vouches for what was before`,
    };
  return { ...base, result: 'unbroken' };
}

/** A signed cut right before the start of the log. During removal, the log may also start within the cut. */
async function vouchedCut({ first, cuts, hashAt }: Findings, isSigned: IsSigned): Promise<number | null> {
  if (first === undefined) return null;
  for (const cut of cuts) {
    const adjoins = cut.throughSeq === first.seq - 1 && cut.throughHash === first.prevHash;
    const covers = cut.throughSeq >= first.seq && hashAt(cut.throughSeq) === cut.throughHash;
    if ((adjoins || covers) && (await isSigned(cut))) return first.seq - 1;
  }
  return null;
}
