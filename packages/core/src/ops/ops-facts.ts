import type { AlertEvent } from '../audit/index.ts';
import type { RunTally } from '../budget/index.ts';
import type { Applying, Meanings, Touch } from '../journal/index.ts';
import { noRows, nothingToApply, touchesNobody } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import { applyAlert, followOp, followOpChange } from './follow-op.ts';
import { followUse } from './note-use.ts';
import type { Operations } from './operations.ts';
import { opsRows } from './ops-rows.ts';
import type { OpsChange, OpsChangeEvent } from './ops-slice.ts';

type State = Pick<Operations, 'directory' | 'ops' | 'ledger' | 'reportedTools'> & { readonly runs: RunTally };

function follow(state: State, change: OpsChange, { seq }: Applying) {
  followOpChange(state, change, seq);
  return nothingToApply();
}

export const opsFacts: Meanings<State, OpsChange | OpsChangeEvent | AlertEvent> = {
  ops_change: {
    apply: (state, event, { seq }) => {
      if (followOp(state, event, seq)) followUse(state, event.op);
      return nothingToApply();
    },
    touch: ({ agent }) => ({ agent: agentKey(agent) }),
    rows: noRows,
  },
  op_asked: { apply: follow, touch: ({ op }) => ({ agent: agentKey(op.agent) }), rows: opsRows.op_asked },
  op_saved: { apply: follow, touch: touchesNobody, rows: opsRows.op_saved },
  op_removed: { apply: follow, touch: touchesNobody, rows: opsRows.op_removed },
  ops_replay_from: { apply: nothingToApply, touch: touchesNobody, rows: opsRows.ops_replay_from },
  ops_forgotten: { apply: nothingToApply, touch: touchesNobody, rows: opsRows.ops_forgotten },
  audit_alert: {
    apply: (state, event) => {
      if (event.reported !== undefined) return state.reportedTools.note(event.reported);
      if (event.movedBackTo === undefined) return applyAlert(state, event);
      state.ledger.followBack(event.movedBackTo);
      return nothingToApply();
    },
    touch: touchOfAlert,
    rows: noRows,
  },
};

function touchOfAlert({ alert, agent, movedBackTo }: AlertEvent): Touch {
  if (movedBackTo !== undefined) return 'everything';
  // No decision rests on these.
  if (alert === 'impersonation' || alert === 'tool_definition_changed') return undefined;
  return agent === null ? undefined : { agent: agentKey(agent) };
}
