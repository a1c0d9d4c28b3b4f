import type { Meanings, Undo } from '../journal/index.ts';
import { noRows, nothingToApply } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import { isInRow } from './in-row.ts';
import type { OpsState } from './operations.ts';
import type { OpsChange } from './ops-slice.ts';

type Judged = Extract<OpsChange, { readonly kind: 'op_result_judged' }>;

export const judgedFacts: Meanings<OpsState, Judged> = {
  op_result_judged: {
    apply: applyJudged,
    touch: ({ id }) => ({ agent: agentKey(id) }),
    rows: noRows,
    redo: {
      ops: (state, fact, how) => {
        if (!isInRow(state, fact.id, fact.opId, how)) applyJudged(state, fact);
      },
    },
  },
};

/** What is judged once stays so, whoever judges it again. */
function applyJudged({ directory, ops }: OpsState, { id, opId }: Judged): Undo {
  const agent = directory.find(id);
  const op = agent && ops.find(agent, opId);
  const duty = op?.resultDuty ?? null;
  if (op === undefined || duty === null || duty.judged) return nothingToApply();
  return ops.change(op, { resultDuty: { ...duty, judged: true } });
}
