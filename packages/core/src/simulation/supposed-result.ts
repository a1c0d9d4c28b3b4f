import type { MayRead, ConsideredRule, PolicySet, ResultEffect } from '../policy/index.ts';
import { considerResultRules } from '../policy/index.ts';
import type { JudgedResult, RecordedCall, ResultMoment, ResultParty } from '../decision/index.ts';
import { CallOfResult, costAside, judgeText, ResultText, subjectOfCall } from '../decision/index.ts';
import type { Sha256 } from '../kernel/index.ts';

/** What becomes of a result that somebody supposes a call to bring back, with every rule on results that was considered. */
export interface SimulatedResult extends JudgedResult<string> {
  readonly rules: readonly ConsideredRule<ResultEffect>[];
}

interface Supposed {
  readonly text: string;
  readonly call: RecordedCall;
  readonly party: ResultParty;
  readonly moment: ResultMoment;
}

/** Judges it as if the call had been made: by what the log would have of the call. */
export function judgeSupposed(
  { policies, sha256 }: { readonly policies: PolicySet; readonly sha256: Sha256 },
  { text, call, party, moment }: Supposed,
  mayRead?: MayRead,
): SimulatedResult {
  const judged = judgeText(
    { policies, sha256, costOf: costAside },
    { part: 'result', text, call, parties: [party] },
    moment,
  );
  const facts = new CallOfResult(call, party, moment, new ResultText(text));
  return { ...judged, rules: considerResultRules(policies, party.record.id, subjectOfCall(call), facts, mayRead) };
}
