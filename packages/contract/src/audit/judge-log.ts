import type { Cut } from './cut.ts';
import type { Findings } from './verify-entries.ts';
import { zeros } from './verify-entries.ts';

/** Whether a key of the gateway has signed a cut. */
type IsSigned = (cut: Cut) => boolean | Promise<boolean>;

/** What is said of a log in the end. */
export interface Verdict {
  /** `unbroken`: the whole chain is in order. `not_checkable`: entries are missing in a way that a filter explains; each entry's own hash fits. */
  readonly result: 'unbroken' | 'broken' | 'not_checkable';
  readonly entries: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly last_hash: string | null;
  /** The last entry that was given up behind a signed cut; null where the log starts with its first entry. */
  readonly cut_at: number | null;
  /** The first broken entry; null where none is, or where a line is no entry. */
  readonly broken_seq: number | null;
  readonly why: string | null;
}

/**
 * Judges what was found. An export does not say whether it was filtered. One that starts where the chain does, and in
 * which most entries link, is taken for a whole log from which entries were taken out; one that does not, for a part.
 */
export async function judgeLog(findings: Findings, isSigned: IsSigned, mustBeWhole: boolean): Promise<Verdict> {
  const { first, last, entries, broken, gaps, links } = findings;
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
  const isTakenForWhole = mustBeWhole || (isAnchored && links >= gaps.length);
  if (gap !== undefined && isTakenForWhole) return fail(gap.before, `entries are missing between ${gap.after} and it`);
  if (!isAnchored && mustBeWhole)
    return fail(first.seq, 'the log starts with it, and nothing vouches for what was before');
  if (gap !== undefined)
    return { ...base, result: 'not_checkable', why: `entries are missing, the first after ${gap.after}` };
  if (!isAnchored)
    return {
      ...base,
      result: 'not_checkable',
      why: `it starts with entry ${first.seq}, and nothing vouches for what was before`,
    };
  return { ...base, result: 'unbroken' };
}

/** A signed cut that the log starts right behind, or within what it gave up while that is being removed. */
async function vouchedCut({ first, cuts, hashAt }: Findings, isSigned: IsSigned): Promise<number | null> {
  if (first === undefined) return null;
  for (const cut of cuts) {
    const adjoins = cut.throughSeq === first.seq - 1 && cut.throughHash === first.prevHash;
    const covers = cut.throughSeq >= first.seq && hashAt(cut.throughSeq) === cut.throughHash;
    if ((adjoins || covers) && (await isSigned(cut))) return first.seq - 1;
  }
  return null;
}
